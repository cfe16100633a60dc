package io.distributedlock.zookeeper.session;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.jspecify.annotations.Nullable;

/**
 * Persistent nodes of the layout that exist, as one request has read them. Servers before
 * ZooKeeper 3.6 do not know that request.
 *
 * @param format the data of the root, or {@code null} if there is no root
 * @param levels the names of the nodes below the root
 * @param lockBuckets the names of the parents of lock nodes
 * @param queueBuckets the names of the parents of wait queues
 */
record ExistingNodes(@Nullable String format, Set<String> levels, Set<String> lockBuckets, Set<String> queueBuckets) {

	/** Reads the nodes with one request. */
	static CompletableFuture<ExistingNodes> read(ZooKeeperOperations operations, NodePaths paths) {
		List<Op> reads = List.of(Op.getData(paths.root()), Op.getChildren(paths.root()), Op.getChildren(paths.locks()),
				Op.getChildren(paths.queues()));
		return operations.multi(reads).thenApply((results) -> of(reads, results));
	}

	private static ExistingNodes of(List<Op> reads, List<OpResult> results) {
		return new ExistingNodes(format(reads.get(0), results.get(0)), children(reads.get(1), results.get(1)),
				children(reads.get(2), results.get(2)), children(reads.get(3), results.get(3)));
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

	/**
	 * Returns the paths of the missing nodes below the root, those of a parent together.
	 */
	List<List<String>> missing(NodePaths paths) {
		boolean processes = this.levels.contains(NodePaths.name(paths.processes()));
		return List.of(processes ? List.of() : List.of(paths.processes()), missing(paths.locks(), this.lockBuckets),
				missing(paths.queues(), this.queueBuckets));
	}

	private static List<String> missing(String parent, Set<String> present) {
		return NodePaths.buckets()
			.stream()
			.filter((bucket) -> !present.contains(bucket))
			.map((bucket) -> parent + "/" + bucket)
			.toList();
	}

}
