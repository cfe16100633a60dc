package io.distributedlock.jdbc;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

import io.distributedlock.LockKey;

/**
 * Turns keys into the texts of the key column: prefix and key, injectively; what does not
 * fit keeps a readable beginning and is told apart by its SHA-256.
 */
final class StoreKeys {

	/** The width of the key column. */
	static final int LENGTH = 512;

	/** The row that carries the layout's format number in its order. */
	static final String FORMAT = "%format";

	/** The row by which processes agree on who sweeps. */
	static final String SWEEPER = "%sweeper";

	/**
	 * Never part of an encoded text, in which only hexadecimal digits and 'u' follow a
	 * percent sign.
	 */
	private static final String HASH_MARK = "%#";

	private static final int HASH_LENGTH = 64;

	private final String prefix;

	StoreKeys(String prefix) {
		this.prefix = LockKey.of(prefix).encoded() + ":";
	}

	String text(LockKey key) {
		String text = this.prefix + key.encoded();
		if (text.length() <= LENGTH) {
			return text;
		}
		int cut = LENGTH - HASH_LENGTH - HASH_MARK.length();
		if (Character.isHighSurrogate(text.charAt(cut - 1))) {
			cut--;
		}
		return text.substring(0, cut) + HASH_MARK + hash(text);
	}

	private static String hash(String text) {
		try {
			byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
			return HexFormat.of().formatHex(digest);
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Every Java platform has SHA-256", ex);
		}
	}

}
