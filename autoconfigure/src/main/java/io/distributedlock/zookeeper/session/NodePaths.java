package io.distributedlock.zookeeper.session;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Objects;

import org.apache.zookeeper.client.ConnectStringParser;

import io.distributedlock.LockKey;

/**
 * Paths of all nodes of a provider: lock nodes and wait queues under 256 fixed parents
 * each, so that a new key needs no parent of its own, and process nodes.
 * <p>
 * The mapping from a prefix and a key to one level of a path is injective: a colon of the
 * prefix is escaped as in a key, control characters, bytes outside ASCII, slash and
 * percent sign are escaped, and a long name is cut and extended by its SHA-256. Paths are
 * short, because all ephemeral paths of a session have to fit into the one transaction
 * that closes it.
 */
public final class NodePaths {

	private static final int BUCKETS = 256;

	private static final int MAX_LENGTH = 64;

	/**
	 * Never part of an escaped text, in which hexadecimal digits follow a percent sign.
	 */
	private static final String HASH_MARK = "%~";

	private static final int HASH_LENGTH = 43;

	private static final String HEX = "0123456789abcdef";

	private final String root;

	/** Has no colon but the last, so that prefix and key are distinct. */
	private final String prefix;

	/**
	 * Creates the paths below a root.
	 * @param root the full path of the root, with the client's namespace
	 * @param keyPrefix the prefix of each key
	 */
	public NodePaths(String root, String keyPrefix) {
		this.root = root;
		this.prefix = LockKey.of(keyPrefix).encoded() + ":";
	}

	public String root() {
		return this.root;
	}

	/**
	 * Returns the bytes that the servers store of each path beyond its number of
	 * characters: the chroot of the client, the number of bytes before the path, and the
	 * further bytes of characters outside ASCII, which only the root can have.
	 * @param servers the connection string, which may end with a chroot
	 */
	int overhead(String servers) {
		String chroot = Objects.requireNonNullElse(new ConnectStringParser(servers).getChrootPath(), "");
		return chroot.getBytes(StandardCharsets.UTF_8).length + Integer.BYTES
				+ this.root.getBytes(StandardCharsets.UTF_8).length - this.root.length();
	}

	public LockPath of(LockKey key) {
		String name = escape(this.prefix + key.encoded());
		String suffix = bucket(name) + "/" + name;
		return new LockPath(locks() + "/" + suffix, queues() + "/" + suffix);
	}

	private static String bucket(String name) {
		int hash = name.hashCode();
		return bucket((hash ^ (hash >>> 8) ^ (hash >>> 16) ^ (hash >>> 24)) & (BUCKETS - 1));
	}

	String locks() {
		return this.root + "/locks";
	}

	String queues() {
		return this.root + "/queues";
	}

	/** Returns the names of the parents of lock nodes, and of wait queues. */
	public static List<String> buckets() {
		List<String> buckets = new ArrayList<>(BUCKETS);
		for (int number = 0; number < BUCKETS; number++) {
			buckets.add(bucket(number));
		}
		return buckets;
	}

	private static String bucket(int number) {
		return "" + HEX.charAt(number >> 4) + HEX.charAt(number & 0xf);
	}

	String processes() {
		return this.root + "/processes";
	}

	/** Returns the parent of requests to release a lock. */
	public String unlocks() {
		return this.root + "/unlocks";
	}

	/** Returns the path of the node of the process that has a session. */
	public String process(long sessionId) {
		return processes() + "/" + Long.toHexString(sessionId);
	}

	/** Returns the path of the parent, which is empty for a node of the first level. */
	public static String parent(String path) {
		return path.substring(0, path.lastIndexOf('/'));
	}

	/** Returns the last level of a path. */
	public static String name(String path) {
		return path.substring(path.lastIndexOf('/') + 1);
	}

	private static String escape(String text) {
		byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
		StringBuilder name = new StringBuilder(MAX_LENGTH);
		for (int i = 0; i < bytes.length && name.length() <= MAX_LENGTH; i++) {
			int value = bytes[i] & 0xff;
			if (value < 0x20 || value >= 0x7f || value == '/' || value == '%') {
				name.append('%').append(HEX.charAt(value >> 4)).append(HEX.charAt(value & 0xf));
			}
			else {
				name.append((char) value);
			}
		}
		if (name.length() <= MAX_LENGTH) {
			return name.toString();
		}
		name.setLength(MAX_LENGTH - HASH_LENGTH - HASH_MARK.length());
		return name.append(HASH_MARK).append(hash(bytes)).toString();
	}

	private static String hash(byte[] bytes) {
		try {
			return Base64.getUrlEncoder()
				.withoutPadding()
				.encodeToString(MessageDigest.getInstance("SHA-256").digest(bytes));
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Every Java platform has SHA-256", ex);
		}
	}

}
