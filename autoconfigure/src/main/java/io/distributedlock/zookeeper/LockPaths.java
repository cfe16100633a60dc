package io.distributedlock.zookeeper;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

import io.distributedlock.LockKey;

/**
 * Names the nodes: doors and lines under 256 fixed parents each, so that a key never seen
 * before needs no parent of its own, and the nodes of the processes.
 * <p>
 * A key becomes one level of a path, injectively: what is not plain ASCII, and the slash,
 * is escaped byte by byte, and what is too long is cut and told apart by its SHA-256.
 * Short, because all ephemeral paths of a session have to fit into one transaction.
 */
final class LockPaths {

	private static final int BUCKETS = 256;

	private static final int LONGEST = 64;

	/**
	 * Never part of an escaped text, in which hexadecimal digits follow a percent sign.
	 */
	private static final String HASH_MARK = "%~";

	private static final int HASH_LENGTH = 43;

	private static final String HEX = "0123456789abcdef";

	private final String root;

	private final String keyPrefix;

	/**
	 * Creates the names below a node.
	 * @param root the node's full path, with the client's namespace
	 */
	LockPaths(String root, String keyPrefix) {
		this.root = root;
		this.keyPrefix = keyPrefix;
	}

	String root() {
		return this.root;
	}

	LockPath of(LockKey key) {
		String name = name(this.keyPrefix + ":" + key.encoded());
		String place = bucket(name) + "/" + name;
		return new LockPath(this.root + "/locks/" + place, this.root + "/queues/" + place);
	}

	private static String bucket(String name) {
		int hash = name.hashCode();
		return bucket((hash ^ (hash >>> 8) ^ (hash >>> 16) ^ (hash >>> 24)) & (BUCKETS - 1));
	}

	String doors() {
		return this.root + "/locks";
	}

	/** The names of the parents of doors. */
	static List<String> buckets() {
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

	/** The node of the process whose session has the given id. */
	String process(long session) {
		return processes() + "/" + Long.toHexString(session);
	}

	/** The node itself and all above it but the root of the tree, from the top. */
	static List<String> withParents(String path) {
		List<String> nodes = new ArrayList<>();
		for (int slash = path.indexOf('/', 1); slash > 0; slash = path.indexOf('/', slash + 1)) {
			nodes.add(path.substring(0, slash));
		}
		nodes.add(path);
		return nodes;
	}

	static String parent(String path) {
		return path.substring(0, path.lastIndexOf('/'));
	}

	private static String name(String text) {
		byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
		StringBuilder name = new StringBuilder(LONGEST);
		for (int i = 0; i < bytes.length && name.length() <= LONGEST; i++) {
			int value = bytes[i] & 0xff;
			if (value < 0x20 || value >= 0x7f || value == '/' || value == '%') {
				name.append('%').append(HEX.charAt(value >> 4)).append(HEX.charAt(value & 0xf));
			}
			else {
				name.append((char) value);
			}
		}
		if (name.length() <= LONGEST) {
			return name.toString();
		}
		name.setLength(LONGEST - HASH_LENGTH - HASH_MARK.length());
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
