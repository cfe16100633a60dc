package io.distributedlock.zookeeper;

import java.net.InetAddress;
import java.net.InetSocketAddress;

import org.apache.curator.framework.CuratorFrameworkFactory;

/**
 * A server with one port for TLS and one without, which trusts {@link TestCertificates}.
 * It announces its port without TLS to clients, as an ensemble does.
 */
public final class TlsZooKeeper {

	private static final ZooKeeperServerProcess SERVER = ZooKeeperServerProcess
		.withTls(TestCertificates.keyStore("server"), TestCertificates.trustStore("client", "renewed"));

	private static final int PORT = SERVER.securePort();

	private TlsZooKeeper() {
	}

	/** Where it listens, with TLS. */
	public static InetSocketAddress address() {
		return new InetSocketAddress(InetAddress.getLoopbackAddress(), PORT);
	}

	/** Where it listens, with TLS. */
	public static String connectString() {
		return "127.0.0.1:" + PORT;
	}

	/** Whether clients that connect from now on must have a certificate, or may. */
	public static void demandCertificates(boolean demanded) {
		SERVER.setProperty("zookeeper.ssl.clientAuth", demanded ? "need" : "want");
	}

	/** Makes a client connect again, and close, without a pause. */
	public static void hasten(CuratorFrameworkFactory.Builder client) {
		client.zookeeperFactory(ImpatientHosts.handles()).maxCloseWaitMs(1);
	}

	/** Ends all connections, and no session. */
	public static void killConnections() {
		SERVER.killConnections();
	}

}
