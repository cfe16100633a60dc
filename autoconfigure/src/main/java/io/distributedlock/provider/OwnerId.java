package io.distributedlock.provider;

import java.security.SecureRandom;
import java.util.HexFormat;

import org.springframework.util.Assert;

/**
 * The 128-bit random name under which one grant stands in the store. Release and renewal
 * compare it there, so that nothing sent for one grant can touch another.
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
	 * A fresh id.
	 * @return an id that nobody else has, from a cryptographically strong source
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
