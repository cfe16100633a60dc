package io.distributedlock.zookeeper.session;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;

import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.LayoutFormat;

/**
 * Persistent nodes of the layout: the root, whose data is the number of the format, and
 * the parents of lock nodes, wait queues and process nodes. Each is created when it is
 * missing, and only then.
 */
public final class PersistentNodes {

	private static final LayoutFormat FORMAT = new LayoutFormat(1);

	private static final byte[] EMPTY = {};

	private final NodePaths paths;

	public PersistentNodes(NodePaths paths) {
		this.paths = paths;
	}

	NodePaths paths() {
		return this.paths;
	}

	/**
	 * Ensures that the root, the parents of process nodes, and all parents of lock nodes
	 * and wait queues exist. No attempt then needs the permission to create one, also if
	 * it is the first that waits below its parent. What exists is read with one request,
	 * and not created: that permission may be missing.
	 * @return fails if a newer version has written the format
	 */
	CompletableFuture<Boolean> ensureAll(ZooKeeperOperations operations) {
		return ExistingNodes.read(operations, this.paths)
			.thenCompose((existing) -> (existing.format() != null) ? ensureMissing(operations, existing)
					: ensureWithParents(operations, this.paths.root())
						.thenCompose((ready) -> ExistingNodes.read(operations, this.paths))
						.thenCompose((created) -> ensureMissing(operations, created)));
	}

	/** Ensures the missing nodes with requests that need not wait for each other. */
	private CompletableFuture<Boolean> ensureMissing(ZooKeeperOperations operations, ExistingNodes existing) {
		requireSupported(existing.format());
		return CompletableFuture
			.allOf(existing.missing(this.paths)
				.map((node) -> ensureWithParents(operations, node))
				.toArray(CompletableFuture<?>[]::new))
			.thenApply((ready) -> true);
	}

	/**
	 * Requires that this version supports the format in the data of the root.
	 * @throws io.distributedlock.LockConfigurationException if it does not
	 */
	public void requireSupported(byte[] root) {
		requireSupported(new String(root, StandardCharsets.UTF_8));
	}

	/** A root without data was created by hand. */
	private void requireSupported(@Nullable String format) {
		if (format == null) {
			throw new CompletionException(KeeperException.create(Code.NONODE, this.paths.root()));
		}
		if (!format.isEmpty()) {
			FORMAT.requireSupported("ZooKeeper below '" + this.paths.root() + "'", format);
		}
	}

	/**
	 * Ensures a persistent node and those parents that are missing: the permission to
	 * create nodes above an existing one may be missing, and is not needed.
	 */
	public CompletableFuture<Boolean> ensureWithParents(ZooKeeperOperations operations, String path) {
		return ensurePersistent(operations, path).exceptionallyCompose((ex) -> {
			if (!ZooKeeperErrors.is(ex, Code.NONODE) || path.lastIndexOf('/') == 0) {
				return CompletableFuture.failedFuture(ex);
			}
			return ensureWithParents(operations, NodePaths.parent(path))
				.thenCompose((ready) -> ensurePersistent(operations, path));
		});
	}

	private CompletableFuture<Boolean> ensurePersistent(ZooKeeperOperations operations, String path) {
		byte[] data = path.equals(this.paths.root()) ? FORMAT.text().getBytes(StandardCharsets.UTF_8) : EMPTY;
		return ensure(operations, path, data, CreateMode.PERSISTENT);
	}

	/** Ensures the ephemeral node of a process, whose data is its label. */
	CompletableFuture<Boolean> ensureProcessNode(ZooKeeperOperations operations, long sessionId, byte[] label) {
		return ensure(operations, this.paths.process(sessionId), label, CreateMode.EPHEMERAL);
	}

	private static CompletableFuture<Boolean> ensure(ZooKeeperOperations operations, String node, byte[] data,
			CreateMode mode) {
		return operations.create(node, data, mode).thenApply((stat) -> true).exceptionallyCompose((ex) -> {
			if (ZooKeeperErrors.is(ex, Code.NODEEXISTS)) {
				return CompletableFuture.completedFuture(true);
			}
			return ZooKeeperErrors.is(ex, Code.NOAUTH) ? requireExisting(operations, node, ex)
					: CompletableFuture.failedFuture(ex);
		});
	}

	/**
	 * Requires a node that this client may not create: servers check that permission
	 * before they find the node, which another process may just have created.
	 */
	private static CompletableFuture<Boolean> requireExisting(ZooKeeperOperations operations, String node,
			Throwable refusal) {
		return operations.stat(node, null).thenApply((stat) -> true).exceptionallyCompose((ex) -> {
			if (ZooKeeperErrors.is(ex, Code.NOAUTH)) {
				// A server that checks the permission to read has found the node.
				return CompletableFuture.completedFuture(true);
			}
			return CompletableFuture.failedFuture(ZooKeeperErrors.is(ex, Code.NONODE) ? refusal : ex);
		});
	}

	/**
	 * Persistent nodes of the layout that exist, as one request has read them. Servers
	 * before ZooKeeper 3.6 do not know that request.
	 *
	 * @param format the data of the root, or {@code null} if there is no root
	 * @param levels the names of the nodes below the root
	 * @param lockBuckets the names of the parents of lock nodes
	 * @param queueBuckets the names of the parents of wait queues
	 */
	private record ExistingNodes(@Nullable String format, Set<String> levels, Set<String> lockBuckets,
			Set<String> queueBuckets) {

		/** Reads the nodes with one request. */
		private static CompletableFuture<ExistingNodes> read(ZooKeeperOperations operations, NodePaths paths) {
			List<Op> reads = List.of(Op.getData(paths.root()), Op.getChildren(paths.root()),
					Op.getChildren(paths.locks()), Op.getChildren(paths.queues()));
			return operations.multi(reads)
				.thenApply((results) -> new ExistingNodes(format(reads.get(0), results.get(0)),
						children(reads.get(1), results.get(1)), children(reads.get(2), results.get(2)),
						children(reads.get(3), results.get(3))));
		}

		private static @Nullable String format(Op read, OpResult result) {
			if (result instanceof OpResult.GetDataResult root) {
				byte[] data = root.getData();
				return (data != null) ? new String(data, StandardCharsets.UTF_8).trim() : "";
			}
			requireMissing(read, result);
			return null;
		}

		/** Returns the children of a node; one that is missing has none. */
		private static Set<String> children(Op read, OpResult result) {
			if (result instanceof OpResult.GetChildrenResult node) {
				return Set.copyOf(node.getChildren());
			}
			requireMissing(read, result);
			return Set.of();
		}

		private static void requireMissing(Op read, OpResult result) {
			Code code = (result instanceof OpResult.ErrorResult error) ? Code.get(error.getErr()) : null;
			if (code != Code.NONODE) {
				throw new CompletionException(ZooKeeperErrors.failure(code, read));
			}
		}

		/** Returns the paths of the missing nodes below the root, each parent first. */
		private Stream<String> missing(NodePaths paths) {
			Stream<String> parents = Stream.of(paths.processes(), paths.locks(), paths.queues())
				.filter((level) -> !this.levels.contains(NodePaths.name(level)));
			return Stream
				.of(parents, missing(paths.locks(), this.lockBuckets), missing(paths.queues(), this.queueBuckets))
				.flatMap((nodes) -> nodes);
		}

		private static Stream<String> missing(String parent, Set<String> present) {
			return NodePaths.buckets()
				.stream()
				.filter((bucket) -> !present.contains(bucket))
				.map((bucket) -> parent + "/" + bucket);
		}

	}

}
