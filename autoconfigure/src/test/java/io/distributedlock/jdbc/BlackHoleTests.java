package io.distributedlock.jdbc;

import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import javax.sql.DataSource;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.distributedlock.LockInterruptedException;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.support.LockSettings;
import io.distributedlock.support.LockTemplate;
import io.distributedlock.testkit.TcpProxy;
import io.distributedlock.testkit.WireFault;

import static org.assertj.core.api.Assertions.assertThat;

/** Interrupts of threads that poll for a lock while the network swallows all packets. */
class BlackHoleTests {

	private static final Duration CALL_TIMEOUT = Duration.ofSeconds(1);

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
	 * Judges the fastest of some rounds: a machine can delay each of them, and a driver
	 * that reacts late does so in all.
	 */
	@ParameterizedTest
	@EnumSource
	void interruptOfAWaitIsNoticedAtOnce(Driver driver) throws Exception {
		DataSource database = TestDatabases.withTable(driver.database());
		String url = TestDatabases.url(database);
		LockTemplate holder = process(url, TestDatabases.user(url));
		long fastest = Long.MAX_VALUE;
		for (int round = 0; round < ROUNDS; round++) {
			LockRequest request = LockRequest.of(LockKey.of("round", Integer.toString(round)));
			try (LockLease held = holder.acquire(request)) {
				assertThat(held.isHeld()).isTrue();
				fastest = Math.min(fastest, reactionNanos(url, request));
			}
		}
		assertThat(Duration.ofNanos(fastest)).isLessThan(Duration.ofMillis(100));
	}

	private long reactionNanos(String url, LockRequest request) throws Exception {
		URI uri = URI.create(url.replaceFirst("^jdbc:((mariadb|mysql):)?", ""));
		try (TcpProxy proxy = new TcpProxy(new InetSocketAddress(uri.getHost(), uri.getPort()))) {
			LockTemplate locks = process(url.replaceFirst("//[^/]+/", "//localhost:" + proxy.port() + "/"),
					TestDatabases.user(url));
			AtomicLong noticed = new AtomicLong();
			Thread waiting = new Thread(() -> {
				try {
					locks.acquire(request.withWaitTime(Duration.ofMinutes(1)));
				}
				catch (LockInterruptedException ex) {
					noticed.set(System.nanoTime());
				}
			});
			waiting.start();
			TimeUnit.MILLISECONDS.sleep(300);
			WireFault blackHole = proxy.blackHole();
			// A poll is under way now, and no time-out is near.
			TimeUnit.MILLISECONDS.sleep(350);
			long interrupted = System.nanoTime();
			waiting.interrupt();
			waiting.join();
			blackHole.close();
			return noticed.get() - interrupted;
		}
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
