package io.distributedlock.actuate;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryForever;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.jdbc.JdbcLockProvider;
import io.distributedlock.jdbc.JdbcLockSettings;
import io.distributedlock.jdbc.TestDatabases;
import io.distributedlock.jdbc.connection.LockDataSource;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.local.LocalStore;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.redis.RedisLockProvider;
import io.distributedlock.redis.RedisLockSettings;
import io.distributedlock.redis.TestRedis;
import io.distributedlock.zookeeper.TestZooKeeper;
import io.distributedlock.zookeeper.ZooKeeperLockProvider;
import io.distributedlock.zookeeper.session.ZooKeeperLockSettings;

/** A store on which tests have several processes. */
final class OperatedStore implements AutoCloseable {

	static final Duration PATIENCE = Duration.ofSeconds(30);

	private final String prefix = "operated-" + UUID.randomUUID();

	private final Deque<AutoCloseable> opened = new ArrayDeque<>();

	private final LockTimer timer = closing(new LockTimer());

	private final Supplier<LockProvider> processes;

	OperatedStore(String name) {
		this.processes = switch (name) {
			case "local" -> {
				LocalStore store = new LocalStore();
				yield () -> new LocalLockProvider(store);
			}
			case "h2" -> {
				DataSource database = TestDatabases.withTable(TestDatabases.h2());
				yield () -> jdbc(database);
			}
			case "postgresql" -> {
				DataSource database = TestDatabases.withTable(TestDatabases.postgres());
				yield () -> jdbc(database);
			}
			case "mariadb" -> {
				DataSource database = TestDatabases.withTable(TestDatabases.mariaDb());
				yield () -> jdbc(database);
			}
			case "redis" -> this::redis;
			default -> this::zooKeeper;
		};
	}

	private <T extends AutoCloseable> T closing(T resource) {
		this.opened.push(resource);
		return resource;
	}

	private LockProvider jdbc(DataSource database) {
		JdbcLockProvider provider = closing(new JdbcLockProvider(LockDataSource.derive(database, 4, PATIENCE),
				JdbcLockSettings.defaults(this.prefix), this.timer));
		TestDatabases.warmUp(provider);
		return provider;
	}

	private LockProvider redis() {
		LettuceConnectionFactory factory = TestRedis.lettuce(TestRedis.port());
		closing(factory::destroy);
		factory.getConnection().close();
		return closing(new RedisLockProvider(factory, RedisLockSettings.defaults(this.prefix)));
	}

	private LockProvider zooKeeper() {
		CuratorFramework client = closing(CuratorFrameworkFactory.builder()
			.connectString(TestZooKeeper.connectString())
			.sessionTimeoutMs(30_000)
			.retryPolicy(new RetryForever(100))
			.ensembleTracker(false)
			.build());
		client.start();
		ZooKeeperLockProvider provider = closing(
				new ZooKeeperLockProvider(client, ZooKeeperLockSettings.defaults(this.prefix), this.timer));
		provider.check(PATIENCE);
		return provider;
	}

	/** Creates a process with an engine of its own. */
	ManagedProvider newProcess() {
		LockProvider provider = this.processes.get();
		LockTemplate template = closing(new LockTemplate(provider, LockSettings.defaults().withCallTimeout(PATIENCE),
				this.timer, List.of(), List.of()));
		return new ManagedProvider(provider.name(), provider, template, null);
	}

	@Override
	public void close() throws Exception {
		while (!this.opened.isEmpty()) {
			this.opened.pop().close();
		}
	}

}
