package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.List;

import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.common.PathUtils;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;

/**
 * What a {@link ZooKeeperLockProvider} has to be told.
 *
 * @param root the node under which the locks are kept, below the client's namespace;
 * short, for it is part of every path
 * @param keyPrefix stands before every key, so that applications can share an ensemble
 * @param acl who may do what with the nodes that are created; the identity of every
 * process needs all permissions
 * @param longestSilence how long the connection of a client that serves locks alone is
 * kept though nothing is answered on it, which is what one call may take, or less where a
 * lease is to be renewed; {@code null} where others use the client too: then it takes two
 * thirds of the session's time-out
 * @since 0.1.0
 */
public record ZooKeeperLockSettings(String root, String keyPrefix, List<ACL> acl, @Nullable Duration longestSilence) {

	/** Where locks are kept unless said otherwise. */
	public static final String DEFAULT_ROOT = "/distributed-lock";

	private static final int LONGEST_ROOT = 100;

	public ZooKeeperLockSettings {
		if (keyPrefix.isBlank()) {
			throw new LockConfigurationException(LockError.INVALID_PROPERTY, "The key prefix is blank",
					"Set distributed-lock.key-prefix or spring.application.name, so that applications sharing "
							+ "an ensemble do not share locks by accident");
		}
		requireRoot(root);
		acl = acl.isEmpty() ? ZooDefs.Ids.OPEN_ACL_UNSAFE : List.copyOf(acl);
	}

	private static void requireRoot(String root) {
		String problem = (root.length() > LONGEST_ROOT) ? "it is longer than " + LONGEST_ROOT + " characters"
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
	 * The defaults, for a client that others use too.
	 * @param keyPrefix stands before every key
	 * @return the settings
	 */
	public static ZooKeeperLockSettings defaults(String keyPrefix) {
		return new ZooKeeperLockSettings(DEFAULT_ROOT, keyPrefix, List.of(), null);
	}

	/** Whether the client serves locks alone. */
	boolean exclusive() {
		return this.longestSilence != null;
	}

}
