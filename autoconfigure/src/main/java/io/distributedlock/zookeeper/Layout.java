package io.distributedlock.zookeeper;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;

import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;

/**
 * The nodes that stay: the root, whose data is the number of the layout's format, and the
 * parents of doors, lines and processes. Created when first missed.
 */
final class Layout {

	private static final int FORMAT = 1;

	private static final byte[] EMPTY = {};

	private final LockPaths paths;

	Layout(LockPaths paths) {
		this.paths = paths;
	}

	/**
	 * Sees to it that the process can put its node.
	 * @return fails if a newer version has laid out the tree
	 */
	CompletableFuture<Boolean> ensure(Calls calls) {
		return calls.read(this.paths.root(), null).handle((node, failure) -> {
			if (node != null) {
				return CompletableFuture.completedFuture(requireFormat(node));
			}
			return ZooKeeperErrors.is(failure, Code.NONODE) ? create(calls)
					: CompletableFuture.<Boolean>failedFuture(failure);
		})
			.thenCompose((next) -> next)
			.thenCompose((ready) -> ensureParents(calls, this.paths.processes()))
			.thenCompose((ready) -> ensureParents(calls, this.paths.doors()))
			.thenCompose((ready) -> ensureBuckets(calls));
	}

	/** All at once, so that no lock ever has to wait for its parent. */
	private CompletableFuture<Boolean> ensureBuckets(Calls calls) {
		String doors = this.paths.doors();
		return calls.children(doors).thenCompose((present) -> {
			CompletableFuture<Boolean> end = CompletableFuture.completedFuture(true);
			for (String bucket : LockPaths.buckets()) {
				if (!present.contains(bucket)) {
					end = end.thenCombine(ensure(calls, doors + "/" + bucket, EMPTY, CreateMode.PERSISTENT),
							(before, ready) -> true);
				}
			}
			return end;
		});
	}

	private boolean requireFormat(Node root) {
		String text = new String(root.data(), StandardCharsets.UTF_8).trim();
		if (text.isEmpty() || Integer.toString(FORMAT).equals(text)) {
			return true;
		}
		throw new LockConfigurationException(LockError.NEWER_FORMAT,
				"The locks in ZooKeeper at " + this.paths.root() + " have format '" + text
						+ "', but this version knows formats up to " + FORMAT,
				"Upgrade this application: two formats side by side would not exclude each other");
	}

	private CompletableFuture<Boolean> create(Calls calls) {
		String root = this.paths.root();
		CompletableFuture<Boolean> above = (root.lastIndexOf('/') > 0) ? ensureParents(calls, LockPaths.parent(root))
				: CompletableFuture.completedFuture(true);
		byte[] format = Integer.toString(FORMAT).getBytes(StandardCharsets.UTF_8);
		return above.thenCompose((ready) -> ensure(calls, root, format, CreateMode.PERSISTENT));
	}

	/** Creates a node that stays, and all above it that are missing. */
	CompletableFuture<Boolean> ensureParents(Calls calls, String path) {
		CompletableFuture<Boolean> end = CompletableFuture.completedFuture(true);
		for (String node : LockPaths.withParents(path)) {
			end = end.thenCompose((ready) -> ensure(calls, node, EMPTY, CreateMode.PERSISTENT));
		}
		return end;
	}

	CompletableFuture<Boolean> ensure(Calls calls, String node, byte[] data, CreateMode mode) {
		return calls.create(node, data, mode)
			.handle((stat, failure) -> isThere(failure) ? CompletableFuture.completedFuture(true)
					: CompletableFuture.<Boolean>failedFuture(failure))
			.thenCompose((next) -> next);
	}

	private static boolean isThere(@Nullable Throwable failure) {
		return failure == null || ZooKeeperErrors.is(failure, Code.NODEEXISTS);
	}

}
