package io.distributedlock.autoconfigure.zookeeper;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.zookeeper.client.ZKClientConfig;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.ssl.NoSuchSslBundleException;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.ssl.SslOptions;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;

/**
 * TLS settings, from an SSL bundle, of the client that is built for the locks. They use
 * the bundle's stores, key, options and protocol. After an update of the bundle the next
 * connection uses the new stores.
 */
final class ZooKeeperSsl implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(ZooKeeperSsl.class);

	private static final List<String> NEEDED = List.of("io.netty.handler.ssl.SslHandler",
			"io.netty.channel.epoll.Epoll");

	private final Supplier<SslBundle> current;

	private final String origin;

	private final ZooKeeperSslStores stores;

	private final Lock writing = new ReentrantLock();

	private boolean closed;

	private ZooKeeperSsl(Supplier<SslBundle> current, String origin) {
		this.current = current;
		this.origin = origin;
		try {
			this.stores = new ZooKeeperSslStores();
		}
		catch (IOException ex) {
			throw invalid("its stores cannot be written to files for ZooKeeper's client: " + ex.getMessage(),
					"Let the process write to the directory " + System.getProperty("java.io.tmpdir"), ex);
		}
	}

	/** Creates the settings of the property, or returns {@code null} without one. */
	static @Nullable ZooKeeperSsl ofProperty(ZooKeeperLockProperties properties, @Nullable SslBundles bundles) {
		String name = properties.ssl().bundle();
		if (!StringUtils.hasText(name)) {
			return null;
		}
		String origin = "The property distributed-lock.zookeeper.ssl.bundle is '" + name + "', but ";
		if (bundles == null) {
			throw invalid(origin, "there are no SSL bundles", "Define spring.ssl.bundle.pem." + name + ".*", null);
		}
		return start(() -> bundles.getBundle(name), origin, (ssl) -> {
			try {
				bundles.addBundleUpdateHandler(name, (updated) -> ssl.update());
			}
			catch (NoSuchSslBundleException ex) {
				throw ssl.invalid("the SSL bundles are " + bundles.getBundleNames(),
						"Name one of them, or define spring.ssl.bundle.pem." + name + ".*", ex);
			}
		});
	}

	/** Creates the settings of the connection details, if they have a bundle. */
	static @Nullable ZooKeeperSsl ofDetails(ZooKeeperConnectionDetails details) {
		SslBundle bundle = details.getSslBundle();
		return (bundle != null)
				? start(() -> bundle, "The ZooKeeperConnectionDetails have an SSL bundle, but ", (ssl) -> {
					// Connection details publish no updates.
				}) : null;
	}

	/** Creates the settings, listening first, so that no update is missed. */
	private static ZooKeeperSsl start(Supplier<SslBundle> current, String origin, Consumer<ZooKeeperSsl> listen) {
		for (String type : NEEDED) {
			if (!ClassUtils.isPresent(type, null)) {
				throw invalid(origin, "ZooKeeper's client needs Netty for TLS, of which " + type + " is missing",
						"Add io.netty:netty-handler and io.netty:netty-transport-native-epoll, as ZooKeeper has them",
						null);
			}
		}
		ZooKeeperSsl ssl = new ZooKeeperSsl(current, origin);
		try {
			listen.accept(ssl);
			ssl.write();
			return ssl;
		}
		catch (IOException | GeneralSecurityException | IllegalStateException ex) {
			ssl.close();
			throw ssl.invalid("it cannot be used: " + ex.getMessage(),
					"Correct the bundle's key store and trust store, its alias and its passwords", ex);
		}
		catch (RuntimeException ex) {
			ssl.close();
			throw ex;
		}
	}

	private LockConfigurationException invalid(String problem, String action, @Nullable Throwable cause) {
		return invalid(this.origin, problem, action, cause);
	}

	private static LockConfigurationException invalid(String origin, String problem, String action,
			@Nullable Throwable cause) {
		return new LockConfigurationException(LockError.INVALID_PROPERTY, origin + problem, action, cause);
	}

	private void write() throws IOException, GeneralSecurityException {
		this.writing.lock();
		try {
			if (!this.closed) {
				this.stores.write(this.current.get());
			}
		}
		finally {
			this.writing.unlock();
		}
	}

	private void update() {
		try {
			write();
		}
		catch (IOException | GeneralSecurityException | RuntimeException ex) {
			logger.warn(this.origin + "its update cannot be used: new connections to ZooKeeper use the former"
					+ " certificates", ex);
		}
	}

	void applyTo(CuratorFrameworkFactory.Builder builder) {
		SslBundle bundle = this.current.get();
		ZKClientConfig config = new ZKClientConfig();
		config.setProperty(ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET, "org.apache.zookeeper.ClientCnxnSocketNetty");
		config.setProperty(ZKClientConfig.SECURE_CLIENT, "true");
		if (bundle.getStores().getKeyStore() != null) {
			setStore(config, "zookeeper.ssl.keyStore.", this.stores.keyStore().toString());
		}
		if (bundle.getStores().getTrustStore() != null) {
			setStore(config, "zookeeper.ssl.trustStore.", this.stores.trustStore().toString());
		}
		SslOptions options = bundle.getOptions();
		setList(config, "zookeeper.ssl.ciphersuites", options.getCiphers());
		setList(config, "zookeeper.ssl.enabledProtocols", options.getEnabledProtocols());
		if (!SslBundle.DEFAULT_PROTOCOL.equals(bundle.getProtocol())) {
			config.setProperty("zookeeper.ssl.protocol", bundle.getProtocol());
		}
		builder.zkClientConfig(config);
	}

	private void setStore(ZKClientConfig config, String prefix, String location) {
		config.setProperty(prefix + "location", location);
		config.setProperty(prefix + "type", ZooKeeperSslStores.TYPE);
		config.setProperty(prefix + "password", this.stores.password());
		// A path that is set for the whole JVM would override the password.
		config.setProperty(prefix + "passwordPath", "");
	}

	private static void setList(ZKClientConfig config, String property, String @Nullable [] values) {
		if (values != null) {
			config.setProperty(property, String.join(",", values));
		}
	}

	@Override
	public void close() {
		this.writing.lock();
		try {
			this.closed = true;
			this.stores.close();
		}
		catch (IOException ex) {
			logger.debug("The files of the SSL bundle could not be deleted", ex);
		}
		finally {
			this.writing.unlock();
		}
	}

}
