package io.distributedlock.zookeeper.session;

import java.time.Duration;
import java.util.List;

import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.common.PathUtils;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;

/**
 * Settings of a {@code ZooKeeperLockProvider}.
 *
 * @param root the parent of all nodes of the provider, below the client's namespace; at
 * most 100 characters, because it is part of every path
 * @param keyPrefix the prefix of every key, so that applications can share an ensemble;
 * not blank
 * @param acl the access control list of all nodes that are created, in which every
 * process needs all permissions; empty for one that permits everything to every client;
 * one for the creator needs a client that has authenticated
 * @param longestSilence how long a connection is kept at least on which nothing is
 * answered, if the client serves locks alone (renewals tolerate less); {@code null} if
 * the application uses the client too: then its own limit of two thirds of the session's
 * time-out applies
 * @since 0.1.0
 */
public record ZooKeeperLockSettings(String root, String keyPrefix, List<ACL> acl, @Nullable Duration longestSilence) {

	/** The default root. */
	public static final String DEFAULT_ROOT = "/distributed-lock";

	private static final int MAX_ROOT_LENGTH = 100;

	/**
	 * Creates the settings.
	 * @throws LockConfigurationException if the root or the key prefix is invalid
	 */
	public ZooKeeperLockSettings {
		if (keyPrefix.isBlank()) {
			throw new LockConfigurationException(LockError.INVALID_PROPERTY, "The key prefix is blank",
					"Give each application a prefix of its own, so that applications sharing an ensemble do not share"
							+ " locks by accident");
		}
		requireRoot(root);
		acl = acl.isEmpty() ? ZooDefs.Ids.OPEN_ACL_UNSAFE : List.copyOf(acl);
	}

	private static void requireRoot(String root) {
		String problem = (root.length() > MAX_ROOT_LENGTH) ? "it is longer than " + MAX_ROOT_LENGTH + " characters"
				: "/".equals(root) ? "it is the root of the whole tree" : null;
		try {
			PathUtils.validatePath(root);
		}
		catch (IllegalArgumentException ex) {
			problem = ex.getMessage();
		}
		if (problem != null) {
			throw new LockConfigurationException(LockError.INVALID_PROPERTY,
					"The property distributed-lock.zookeeper.root is '" + root + "': " + problem,
					"Choose a short absolute path, such as " + DEFAULT_ROOT);
		}
	}

	/**
	 * Returns the defaults, for a client that the application uses too.
	 * @param keyPrefix the prefix of every key
	 * @return the settings
	 * @throws LockConfigurationException if the key prefix is blank
	 */
	public static ZooKeeperLockSettings defaults(String keyPrefix) {
		return new ZooKeeperLockSettings(DEFAULT_ROOT, keyPrefix, List.of(), null);
	}

	/** Returns whether the client serves locks alone. */
	public boolean exclusive() {
		return this.longestSilence != null;
	}

}
