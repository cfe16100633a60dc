package io.distributedlock.jdbc;

import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.FutureTask;

import javax.sql.DataSource;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.JdbcTemplate;

import io.distributedlock.LockInterruptedException;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.jdbc.connection.LockDataSource;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.testkit.TcpProxy;
import io.distributedlock.testkit.WireFault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** Interrupts of threads that poll for a lock while the network swallows all packets. */
@Tag("full")
class BlackHoleTests {

	private static final Duration CALL_TIMEOUT = Duration.ofSeconds(1);

	private static final Duration AT_ONCE = Duration.ofMillis(100);

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private static final int ROUNDS = 8;

	private final LockTimer timer = new LockTimer();

	private final List<AutoCloseable> resources = new ArrayList<>();

	@AfterEach
	void close() throws Exception {
		Collections.reverse(this.resources);
		for (AutoCloseable resource : this.resources) {
			resource.close();
		}
		this.timer.close();
	}

	/**
	 * Accepts one fast round of several: a machine can delay each of them, and a driver
	 * that reacts late does so in all.
	 */
	@ParameterizedTest
	@EnumSource
	void interruptOfAWaitIsNoticedAtOnce(Driver driver) throws Exception {
		DataSource database = TestDatabases.withTable(driver.database());
		String url = TestDatabases.url(database);
		LockTemplate holder = process(url, TestDatabases.user(url));
		JdbcTemplate table = new JdbcTemplate(database);
		List<Duration> reactions = new ArrayList<>();
		for (int round = 0; round < ROUNDS; round++) {
			LockRequest request = LockRequest.of(LockKey.of("round", Integer.toString(round)));
			try (LockLease held = holder.acquire(request)) {
				assertThat(held.isHeld()).isTrue();
				reactions.add(reaction(url, request, table));
			}
			if (reactions.get(round).compareTo(AT_ONCE) < 0) {
				return;
			}
		}
		assertThat(reactions).anyMatch((reaction) -> reaction.compareTo(AT_ONCE) < 0);
	}

	private Duration reaction(String url, LockRequest request, JdbcTemplate table) throws Exception {
		URI uri = URI.create(url.replaceFirst("^jdbc:((mariadb|mysql):)?", ""));
		try (TcpProxy proxy = new TcpProxy(new InetSocketAddress(uri.getHost(), uri.getPort()))) {
			LockTemplate locks = process(url.replaceFirst("//[^/]+/", "//localhost:" + proxy.port() + "/"),
					TestDatabases.user(url));
			FutureTask<Long> noticed = new FutureTask<>(() -> {
				assertThatExceptionOfType(LockInterruptedException.class)
					.isThrownBy(() -> locks.acquire(request.withWaitTime(Duration.ofMinutes(1))));
				return System.nanoTime();
			});
			Thread waiting = new Thread(noticed);
			waiting.start();
			await().atMost(PATIENCE).until(() -> hasWaiter(table));
			try (WireFault blackHole = proxy.blackHole()) {
				// A poll is under way then, and its time-out is not near.
				await().atMost(PATIENCE).pollInterval(Duration.ofMillis(5)).until(() -> blackHole.hits() > 0);
				long interrupted = System.nanoTime();
				waiting.interrupt();
				return Duration.ofNanos(noticed.get() - interrupted);
			}
		}
	}

	private static boolean hasWaiter(JdbcTemplate table) {
		return table.queryForObject(
				"SELECT count(*) FROM distributed_lock WHERE first_waiter NOT LIKE '.%' AND owner NOT LIKE 'free%'",
				Long.class) > 0;
	}

	private LockTemplate process(String url, String user) {
		JdbcLockProvider provider = new JdbcLockProvider(
				LockDataSource.connect(url, user, "", null, LockDataSource.DEFAULT_SIZE, CALL_TIMEOUT),
				JdbcLockSettings.defaults("app"), this.timer);
		this.resources.add(provider);
		TestDatabases.warmUp(provider);
		LockTemplate locks = new LockTemplate(provider, LockSettings.defaults().withCallTimeout(CALL_TIMEOUT),
				this.timer, List.of(), List.of());
		this.resources.add(locks);
		return locks;
	}

	enum Driver {

		MARIADB {
			@Override
			DataSource database() {
				return TestDatabases.mariaDb();
			}
		},
		MYSQL {
			@Override
			DataSource database() {
				return TestDatabases.mySql();
			}
		};

		abstract DataSource database();

	}

}
