package io.distributedlock.zookeeper.session;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.curator.CuratorZookeeperClient;
import org.apache.curator.framework.CuratorFramework;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;

/**
 * Registration of the one provider of this JVM that uses a client and a root. Two
 * providers with one session could not distinguish their lock nodes.
 */
public final class RootRegistration implements AutoCloseable {

	/** One registration per open provider. */
	private static final Map<ClientRoot, RootRegistration> REGISTRATIONS = new ConcurrentHashMap<>();

	private final ClientRoot clientRoot;

	private RootRegistration(ClientRoot clientRoot) {
		this.clientRoot = clientRoot;
	}

	/**
	 * Registers a provider.
	 * @param root the parent of all nodes of the provider, with the client's namespace
	 * @throws LockConfigurationException if another provider is registered
	 */
	public static RootRegistration register(CuratorFramework client, String root) {
		ClientRoot clientRoot = new ClientRoot(client.getZookeeperClient(), root);
		RootRegistration registration = new RootRegistration(clientRoot);
		if (REGISTRATIONS.putIfAbsent(clientRoot, registration) != null) {
			throw new LockConfigurationException(LockError.SEVERAL_PROVIDERS,
					"Another ZooKeeperLockProvider of this process uses the root '" + root
							+ "' with the same CuratorFramework: both would have one session and could not "
							+ "distinguish their locks",
					"Use one provider, close the other first, or use one CuratorFramework for each");
		}
		return registration;
	}

	/** Returns whether another provider has registered for the same client and root. */
	public boolean isReplaced() {
		RootRegistration present = REGISTRATIONS.get(this.clientRoot);
		return present != null && present != this;
	}

	/** Removes the registration; another provider may register afterwards. */
	@Override
	public void close() {
		REGISTRATIONS.remove(this.clientRoot, this);
	}

	/** Client and root; all namespaces of a client share the one that connects. */
	private record ClientRoot(CuratorZookeeperClient client, String root) {

	}

}
