package io.distributedlock.zookeeper.node;

import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;

import org.apache.zookeeper.KeeperException.Code;

import io.distributedlock.zookeeper.session.ZooKeeperOperations;
import io.distributedlock.zookeeper.session.ZooKeeperOperations.Children;

/**
 * Order of the entries of a wait queue: by the sequence number that ZooKeeper appended.
 */
public final class WaitQueueOrder {

	private static final int SEQUENCE_LENGTH = 10;

	/** A session's id in hexadecimal digits and ZooKeeper's sequence number. */
	private static final Pattern ENTRY = Pattern.compile("[0-9a-f]{1,16}-\\d{" + SEQUENCE_LENGTH + "}");

	/** Odd, so that no two limits have the same product, with bits in every place. */
	private static final long SPREAD = 0x9E3779B97F4A7C15L;

	private WaitQueueOrder() {
	}

	/**
	 * Sorts the names of a queue's children in the order of their arrival.
	 * @param children the names in any order
	 * @return the entries, the head first, without nodes that are not queue entries
	 */
	public static List<String> sort(List<String> children) {
		return children.stream()
			.filter((child) -> ENTRY.matcher(child).matches())
			.sorted(Comparator.<String, String>comparing((child) -> child.substring(child.length() - SEQUENCE_LENGTH))
				.thenComparing(Comparator.naturalOrder()))
			.toList();
	}

	/** Reads the entries of a queue, the head first; a queue that is missing has none. */
	public static CompletableFuture<Children> read(ZooKeeperOperations operations, String queue) {
		return ZooKeeperOperations
			.recover(operations.children(queue, null), Code.NONODE,
					() -> CompletableFuture.completedFuture(new Children(List.of(), 0, 0)))
			.thenApply((read) -> new Children(sort(read.names()), read.czxid(), read.version()));
	}

	/**
	 * Returns what the names of all entries of one session begin with.
	 */
	public static String prefix(long sessionId) {
		return prefix(sessionId, 0);
	}

	/**
	 * Returns what the names of all entries of one session begin with that want a share.
	 * It is different for each limit, because the entries are used apart from each other,
	 * and has the form that every version takes for an entry.
	 * @param limit the most shares, or 0 for the entries that want the whole lock
	 */
	public static String prefix(long sessionId, int limit) {
		return Long.toHexString(sessionId ^ (limit * SPREAD)) + "-";
	}

}
