package io.distributedlock.provider;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * A limit for the texts of keys, for stores with a limited width.
 *
 * @since 0.1.0
 */
public final class StoreText {

	/**
	 * Never part of an encoded key, in which only hexadecimal digits and 'u' follow a
	 * percent sign.
	 */
	private static final String HASH_MARK = "%#";

	private static final int HASH_LENGTH = 64;

	private StoreText() {
	}

	/**
	 * Shortens a long text to its beginning and its SHA-256, so that different texts stay
	 * different.
	 * @param text a text that begins with, or is, the encoded text of a key
	 * @param length the most bytes of UTF-8 that fit, more than 100
	 * @return the text itself, or its shortened form
	 */
	public static String shorten(String text, int length) {
		// At most three bytes for each char of Java.
		return (text.length() <= length / 3 || cut(text, length) == text.length()) ? text
				: text.substring(0, cut(text, length - HASH_LENGTH - HASH_MARK.length())) + HASH_MARK + hash(text);
	}

	/**
	 * Returns the length of the longest beginning of a text with at most so many bytes.
	 */
	private static int cut(String text, int bytes) {
		int end = 0;
		int left = bytes;
		while (end < text.length()) {
			int codePoint = text.codePointAt(end);
			left -= (codePoint < 0x80) ? 1 : (codePoint < 0x800) ? 2 : Character.isBmpCodePoint(codePoint) ? 3 : 4;
			if (left < 0) {
				return end;
			}
			end += Character.charCount(codePoint);
		}
		return end;
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
