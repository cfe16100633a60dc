package io.distributedlock.redis.script;

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
public final class Script {

	public static final Script ATTEMPT = load("attempt", "value", "attempt-common", "attempt-busy");

	public static final Script ATTEMPT_SHARE = load("value", "shares", "attempt-common", "attempt-share");

	public static final Script RELEASE = load("release", "value", "release-contended", "reserve");

	public static final Script RELEASE_SHARE = load("value", "shares", "release-share", "reserve");

	public static final Script KEEP = load("value", "keep");

	public static final Script WITHDRAW = load("value", "shares", "withdraw", "reserve");

	public static final Script EXPIRE_RESERVATION = load("value", "shares", "expire-reservation", "reserve");

	public static final Script RENEW = load("renew");

	static final Script PROBE = load("probe");

	public static final Script HEALTH = load("health");

	public static final Script INSPECT = load("value", "shares", "inspect");

	public static final Script CHECK = load("check");

	public static final Script SERVER = load("server");

	public static final Script QUORUM_NODE = load("quorum-node");

	public static final Script QUORUM_ORDERS = load("quorum-orders");

	public static final Script QUORUM_JOIN = load("quorum-join");

	public static final Script QUORUM_ORDER = load("quorum-order");

	/** The first value in the reply of an attempt unless that is an order. */
	public static final long NOT_GRANTED = 0;

	private final byte[] text;

	private final String digest;

	private final byte[] encodedDigest;

	private Script(byte[] text) {
		this.text = text;
		this.digest = digest(text);
		this.encodedDigest = RedisLayout.bytes(this.digest);
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

	public byte[] text() {
		return this.text;
	}

	/** The SHA-1 of the text, the argument of EVALSHA. */
	public String digest() {
		return this.digest;
	}

	public byte[] encodedDigest() {
		return this.encodedDigest;
	}

}
