package io.distributedlock.sample.control;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.UUID;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingServer;

import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

import io.distributedlock.sample.SampleApplication;

/**
 * ZooKeeper server within this process, on the loopback interface only. Its files are in
 * a temporary directory that is deleted after the end of the process, even if that is
 * killed. A client needs its password, which is new with each start, to use the locks.
 */
@Component
@ConditionalOnUnset(EmbeddedZooKeeperServer.PROPERTY)
@Profile("!" + SampleApplication.WORKER + " & " + EmbeddedZooKeeperServer.PROFILE)
class EmbeddedZooKeeperServer implements LockServer, AutoCloseable {

	static final String PROFILE = "zookeeper";

	static final String PROPERTY = "distributed-lock.zookeeper.connect-string";

	private static final String LOOPBACK = "127.0.0.1";

	private static final String SCHEME = "digest";

	private static final int TICK_MILLIS = 200;

	private static final int RETRY_AFTER_MILLIS = 100;

	private static final Map<String, Object> SETTINGS = Map.of("clientPortAddress", LOOPBACK, "maxSessionTimeout",
			"60000", "admin.enableServer", "false");

	private final String credentials = "sample:" + UUID.randomUUID();

	private final ExitCommand exitCommand;

	private final TestingServer server;

	EmbeddedZooKeeperServer() throws Exception {
		// Other users of this machine cannot read this directory.
		Path directory = Files.createTempDirectory("distributed-lock-sample");
		this.exitCommand = ExitCommand.register("true", "rm -rf -- \"$1\"", directory);
		this.server = new TestingServer(new InstanceSpec(directory.resolve("data").toFile(), -1, -1, -1, false, -1,
				TICK_MILLIS, -1, SETTINGS, LOOPBACK), true);
	}

	/** Creates a client for this process, which is not started. */
	CuratorFramework client() {
		return CuratorFrameworkFactory.builder()
			.connectString(this.server.getConnectString())
			.authorization(SCHEME, this.credentials.getBytes(StandardCharsets.UTF_8))
			.retryPolicy(new RetryOneTime(RETRY_AFTER_MILLIS))
			.build();
	}

	@Override
	public Map<String, String> workerEnvironment() {
		return Map.of("DISTRIBUTEDLOCK_ZOOKEEPER_CONNECTSTRING", this.server.getConnectString(),
				"DISTRIBUTEDLOCK_ZOOKEEPER_AUTH_SCHEME", SCHEME, "DISTRIBUTEDLOCK_ZOOKEEPER_AUTH_CREDENTIALS",
				this.credentials);
	}

	@Override
	public void close() throws IOException {
		this.server.close();
		this.exitCommand.close();
	}

}
