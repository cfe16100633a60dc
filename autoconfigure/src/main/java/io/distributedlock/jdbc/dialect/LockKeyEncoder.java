package io.distributedlock.jdbc.dialect;

import java.util.List;

import io.distributedlock.LockKey;
import io.distributedlock.provider.StoreText;

/**
 * Encoder of keys into texts of the key column: prefix and key, injectively. A text that
 * is too long for the column keeps its beginning and ends with a hash.
 */
public final class LockKeyEncoder {

	/** The width of the key column in bytes: what every database can index. */
	static final int LENGTH = 900;

	/** The key of the row whose order is the format number of the table. */
	static final String FORMAT_ROW = "%format";

	/** A key that no row has. */
	static final String NO_ROW = "%none";

	/** Keys of no row, which some collations take for the key of the format row. */
	static final List<String> SIMILAR_TO_FORMAT_ROW = List.of("%FORMAT", "%format ", "%f\u00f6rmat");

	/** The key of the row that serves as the lock of the sweeper. */
	public static final String SWEEPER_ROW = "%sweeper";

	/** The beginning of the keys of rows that row locks lock. */
	public static final String ROW = "%row:";

	private final String prefix;

	public LockKeyEncoder(String prefix) {
		this.prefix = LockKey.of(prefix).encoded() + ":";
	}

	/**
	 * Returns the beginning of all keys that this encoder makes, which ends in a colon.
	 */
	public String prefix() {
		return this.prefix;
	}

	public String encode(LockKey key) {
		return StoreText.shorten(this.prefix + key.encoded(), LENGTH);
	}

	/** Returns the key of the row that is locked while a row lock is held. */
	public String encodeRow(LockKey key) {
		return StoreText.shorten(ROW + this.prefix + key.encoded(), LENGTH);
	}

}
