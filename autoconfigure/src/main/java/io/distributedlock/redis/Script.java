package io.distributedlock.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * A Lua script: the constants of the layout, followed by {@code .lua} files from the
 * package of this class.
 */
final class Script {

	static final Script ATTEMPT = load("attempt", "value", "attempt-busy");

	static final Script RELEASE = load("release", "value", "release-contended", "reserve");

	static final Script KEEP = load("value", "keep");

	static final Script WITHDRAW = load("value", "withdraw", "reserve");

	static final Script EXPIRE_RESERVATION = load("value", "expire-reservation", "reserve");

	static final Script RENEW = load("renew");

	static final Script PROBE = load("probe");

	static final Script HEALTH = load("health");

	static final Script INSPECT = load("value", "inspect");

	static final Script COMMANDS = load("commands");

	static final Script CHECK = load("check");

	static final Script SERVER = load("server");

	static final Script QUORUM_NODE = load("quorum-node");

	static final Script QUORUM_ORDERS = load("quorum-orders");

	static final Script QUORUM_JOIN = load("quorum-join");

	static final Script QUORUM_ORDER = load("quorum-order");

	/** The first value in the reply of {@link #ATTEMPT} unless that is an order. */
	static final long NOT_GRANTED = 0;

	private final byte[] text;

	private final String digest;

	private Script(byte[] text) {
		this.text = text;
		this.digest = digest(text);
	}

	private static Script load(String... names) {
		StringBuilder text = new StringBuilder(RedisLayout.scriptConstants());
		for (String name : names) {
			try (InputStream file = Script.class.getResourceAsStream(name + ".lua")) {
				if (file == null) {
					throw new IllegalStateException("The script '" + name + ".lua' is missing");
				}
				text.append(new String(file.readAllBytes(), StandardCharsets.UTF_8));
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}
		return new Script(text.toString().getBytes(StandardCharsets.UTF_8));
	}

	private static String digest(byte[] text) {
		try {
			return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(text));
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Every Java platform has SHA-1", ex);
		}
	}

	byte[] text() {
		return this.text;
	}

	/** The SHA-1 of the text, the argument of EVALSHA. */
	String digest() {
		return this.digest;
	}

}
