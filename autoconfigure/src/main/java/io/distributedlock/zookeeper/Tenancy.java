package io.distributedlock.zookeeper;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.curator.CuratorZookeeperClient;
import org.apache.curator.framework.CuratorFramework;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;

/**
 * Which provider keeps its locks where by which client. Two with one session could not
 * tell each other's doors from their own, so there is one.
 */
final class Tenancy implements AutoCloseable {

	/** As many as providers are open. */
	private static final Map<Tenant, Tenancy> PRESENT = new ConcurrentHashMap<>();

	private final Tenant tenant;

	private Tenancy(Tenant tenant) {
		this.tenant = tenant;
	}

	/**
	 * Begins a tenancy.
	 * @param root the node under which the locks are kept, with the client's namespace
	 * @throws LockConfigurationException if there is one already
	 */
	static Tenancy of(CuratorFramework client, String root) {
		Tenant tenant = new Tenant(client.getZookeeperClient(), root);
		Tenancy tenancy = new Tenancy(tenant);
		if (PRESENT.putIfAbsent(tenant, tenancy) != null) {
			throw new LockConfigurationException(LockError.SEVERAL_PROVIDERS,
					"Another ZooKeeperLockProvider of this process keeps its locks at '" + root
							+ "' by the same CuratorFramework, so that both would have one session and take each "
							+ "other's locks for their own",
					"Use one provider, close the other first, or give each a CuratorFramework of its own");
		}
		return tenancy;
	}

	/** Ends it, once: afterwards it may be another's. */
	@Override
	public void close() {
		PRESENT.remove(this.tenant, this);
	}

	/** Also told by the client with a namespace, which has the same session. */
	private record Tenant(CuratorZookeeperClient client, String root) {
	}

}
