package io.distributedlock.zookeeper;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;

import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.LayoutFormat;

/**
 * Persistent nodes of the layout: the root, whose data is the number of the format, and
 * the parents of lock nodes, wait queues and process nodes. Each is created when it is
 * first missing.
 */
final class PersistentNodes {

	private static final LayoutFormat FORMAT = new LayoutFormat(1);

	private static final byte[] EMPTY = {};

	private final NodePaths paths;

	PersistentNodes(NodePaths paths) {
		this.paths = paths;
	}

	NodePaths paths() {
		return this.paths;
	}

	/**
	 * Ensures that the root and the parents of lock nodes and process nodes exist.
	 * @return fails if a newer version has written the format
	 */
	CompletableFuture<Boolean> ensureAll(ZooKeeperOperations operations) {
		return operations.read(this.paths.root(), null).handle((node, failure) -> {
			if (node != null) {
				return CompletableFuture.completedFuture(requireSupportedFormat(node));
			}
			return ZooKeeperErrors.is(failure, Code.NONODE) ? createRoot(operations)
					: CompletableFuture.<Boolean>failedFuture(failure);
		})
			.thenCompose((next) -> next)
			.thenCompose((ready) -> ensureWithParents(operations, this.paths.processes()))
			.thenCompose((ready) -> ensureWithParents(operations, this.paths.locks()))
			.thenCompose((ready) -> ensureBuckets(operations));
	}

	/** Ensures the parents of all lock nodes, so that no attempt has to create one. */
	private CompletableFuture<Boolean> ensureBuckets(ZooKeeperOperations operations) {
		String locks = this.paths.locks();
		return operations.children(locks).thenCompose((present) -> {
			CompletableFuture<Boolean> end = CompletableFuture.completedFuture(true);
			for (String bucket : NodePaths.buckets()) {
				if (!present.contains(bucket)) {
					end = end.thenCombine(ensure(operations, locks + "/" + bucket, EMPTY, CreateMode.PERSISTENT),
							(before, ready) -> true);
				}
			}
			return end;
		});
	}

	/** A root without data was created by hand. */
	private boolean requireSupportedFormat(ZNode root) {
		String text = new String(root.data(), StandardCharsets.UTF_8).trim();
		if (!text.isEmpty()) {
			FORMAT.requireSupported("ZooKeeper below '" + this.paths.root() + "'", text);
		}
		return true;
	}

	private CompletableFuture<Boolean> createRoot(ZooKeeperOperations operations) {
		String root = this.paths.root();
		CompletableFuture<Boolean> above = (root.lastIndexOf('/') > 0)
				? ensureWithParents(operations, NodePaths.parent(root)) : CompletableFuture.completedFuture(true);
		byte[] format = FORMAT.text().getBytes(StandardCharsets.UTF_8);
		return above.thenCompose((ready) -> ensure(operations, root, format, CreateMode.PERSISTENT));
	}

	/**
	 * Ensures a persistent node and those parents that are missing: the right to create
	 * nodes above an existing one may be missing, and is not needed.
	 */
	CompletableFuture<Boolean> ensureWithParents(ZooKeeperOperations operations, String path) {
		return ensure(operations, path, EMPTY, CreateMode.PERSISTENT).exceptionallyCompose((ex) -> {
			if (!ZooKeeperErrors.is(ex, Code.NONODE) || path.lastIndexOf('/') == 0) {
				return CompletableFuture.failedFuture(ex);
			}
			return ensureWithParents(operations, NodePaths.parent(path))
				.thenCompose((ready) -> ensure(operations, path, EMPTY, CreateMode.PERSISTENT));
		});
	}

	/** Ensures the ephemeral node of a process, whose data is its label. */
	CompletableFuture<Boolean> ensureProcessNode(ZooKeeperOperations operations, long sessionId, byte[] label) {
		return ensure(operations, this.paths.process(sessionId), label, CreateMode.EPHEMERAL);
	}

	private static CompletableFuture<Boolean> ensure(ZooKeeperOperations operations, String node, byte[] data,
			CreateMode mode) {
		return operations.create(node, data, mode)
			.handle((stat, failure) -> exists(failure) ? CompletableFuture.completedFuture(true)
					: CompletableFuture.<Boolean>failedFuture(failure))
			.thenCompose((next) -> next);
	}

	private static boolean exists(@Nullable Throwable failure) {
		return failure == null || ZooKeeperErrors.is(failure, Code.NODEEXISTS);
	}

}
