package io.distributedlock.provider;

import java.security.SecureRandom;
import java.util.HexFormat;

import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * The random id of 128 bits that marks one grant in the store. Release and renewal
 * compare it there, so that no command for one grant can affect another. Immutable.
 *
 * @since 0.1.0
 */
public final class OwnerId {

	private static final SecureRandom RANDOM = new SecureRandom();

	private static final HexFormat HEX = HexFormat.of();

	private static final int DIGITS = 16;

	/** Set in the lower bits of a share's id. */
	private static final long SHARE = 1;

	/** Kept as numbers, because there is one id for each held lock. */
	private final long high;

	private final long low;

	/**
	 * Creates an id.
	 * @param high its upper 64 bits
	 * @param low its lower 64 bits
	 */
	public OwnerId(long high, long low) {
		this.high = high;
		this.low = low;
	}

	/**
	 * Creates an id from its text.
	 * @param text 32 hexadecimal digits
	 */
	public OwnerId(String text) {
		Assert.isTrue(text.length() == 2 * DIGITS, "An owner id has 32 hexadecimal digits");
		this.high = HexFormat.fromHexDigitsToLong(text, 0, DIGITS);
		this.low = HexFormat.fromHexDigitsToLong(text, DIGITS, 2 * DIGITS);
	}

	/**
	 * Creates a new id of an exclusive grant, or of a process.
	 * @return an id from a cryptographically strong source, different from every other
	 */
	public static OwnerId random() {
		return new OwnerId(RANDOM.nextLong(), RANDOM.nextLong()).ofShare(false);
	}

	/**
	 * Returns an id like this one for a grant of the given kind. The id itself says which
	 * it is, so that every command that names an owner knows what it is about.
	 * @param share whether the grant is a share of its key, beside others
	 * @return the id, with 127 bits of this one
	 */
	public OwnerId ofShare(boolean share) {
		return (isShare() == share) ? this : new OwnerId(this.high, this.low ^ SHARE);
	}

	/**
	 * Whether a grant with this id is a share of its key.
	 * @return {@code false} for an exclusive grant
	 */
	public boolean isShare() {
		return (this.low & SHARE) != 0;
	}

	/**
	 * Returns the text that stores keep.
	 * @return 32 hexadecimal digits in lower case
	 */
	public String text() {
		return HEX.toHexDigits(this.high) + HEX.toHexDigits(this.low);
	}

	/**
	 * Writes the text that stores keep, as ASCII, without making it.
	 * @param target receives 32 bytes
	 * @param from the index of the first one
	 */
	public void write(byte[] target, int from) {
		for (int digit = 0; digit < DIGITS; digit++) {
			int shift = 4 * (DIGITS - 1 - digit);
			target[from + digit] = (byte) Character.forDigit((int) (this.high >>> shift) & 0xf, 16);
			target[from + DIGITS + digit] = (byte) Character.forDigit((int) (this.low >>> shift) & 0xf, 16);
		}
	}

	@Override
	public boolean equals(@Nullable Object other) {
		return other instanceof OwnerId id && id.high == this.high && id.low == this.low;
	}

	@Override
	public int hashCode() {
		return Long.hashCode(this.high ^ this.low);
	}

	@Override
	public String toString() {
		return text();
	}

}
