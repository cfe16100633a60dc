package io.distributedlock.zookeeper.session;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
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

	private CompletableFuture<Boolean> ensureMissing(ZooKeeperOperations operations, ExistingNodes existing) {
		requireSupported(existing.format());
		return allOf(existing.missing(this.paths).stream().map((nodes) -> ensureSiblings(operations, nodes)).toList());
	}

	/** Ensures the first node, and then all others at once. */
	private CompletableFuture<Boolean> ensureSiblings(ZooKeeperOperations operations, List<String> nodes) {
		if (nodes.isEmpty()) {
			return CompletableFuture.completedFuture(true);
		}
		return ensureWithParents(operations, nodes.get(0)).thenCompose(
				(ready) -> allOf(nodes.stream().skip(1).map((node) -> ensureWithParents(operations, node)).toList()));
	}

	private static CompletableFuture<Boolean> allOf(List<CompletableFuture<Boolean>> all) {
		return CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).thenApply((ready) -> true);
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

}
