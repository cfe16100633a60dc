package io.distributedlock.zookeeper.node;

import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Order of the entries of a wait queue: by the sequence number that ZooKeeper appended.
 */
public final class WaitQueueOrder {

	private static final int SEQUENCE_LENGTH = 10;

	/** A session's id in hexadecimal digits and ZooKeeper's sequence number. */
	private static final Pattern ENTRY = Pattern.compile("[0-9a-f]{1,16}-\\d{" + SEQUENCE_LENGTH + "}");

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

	/**
	 * Returns what the names of all entries of one session begin with.
	 */
	public static String prefix(long sessionId) {
		return Long.toHexString(sessionId) + "-";
	}

}
