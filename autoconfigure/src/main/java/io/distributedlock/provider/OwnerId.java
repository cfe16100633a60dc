package io.distributedlock.provider;

import java.security.SecureRandom;
import java.util.HexFormat;

import org.springframework.util.Assert;

/**
 * The random id of 128 bits that marks one grant in the store. Release and renewal
 * compare it there, so that no command for one grant can affect another.
 *
 * @param text 32 hexadecimal digits
 * @since 0.1.0
 */
public record OwnerId(String text) {

	private static final SecureRandom RANDOM = new SecureRandom();

	public OwnerId {
		Assert.isTrue(text.length() == 32, "An owner id has 32 hexadecimal digits");
	}

	/**
	 * Creates a new id.
	 * @return an id from a cryptographically strong source, different from every other
	 */
	public static OwnerId random() {
		byte[] bytes = new byte[16];
		RANDOM.nextBytes(bytes);
		return new OwnerId(HexFormat.of().formatHex(bytes));
	}

	@Override
	public String toString() {
		return this.text;
	}

}
