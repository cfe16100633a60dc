package io.distributedlock.zookeeper;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.testkit.TcpProxy;
import io.distributedlock.testkit.WireFault;
import io.distributedlock.testkit.WireFault.Effect;
import io.distributedlock.zookeeper.session.Session;

import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests of session time-outs that change while the session lasts: a server is started
 * again on the same data with another limit.
 */
@Tag("full")
class ZooKeeperTimeoutTests {

	/** Its heartbeats are too rare for a session with the short one. */
	private static final Duration LONG = Duration.ofSeconds(60);

	/** A session with it survives a pause of 0.4 of it on a loaded machine. */
	private static final Duration SHORT = Duration.ofSeconds(10);

	/** Less than the long one, and enough for a slow machine to start a server. */
	private static final Duration OUTLIVES_A_RESTART = Duration.ofSeconds(20);

	private static final Duration LEASE = Duration.ofMinutes(5);

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	@TempDir
	private Path data;

	private ZooKeeperServerProcess server;

	private ZooKeeperFixture fixture;

	private TcpProxy proxy;

	private ZooKeeperLockProvider process;

	private final LockKey key = LockKey.of("time-out", "key");

	@AfterEach
	void close() {
		this.fixture.close();
		this.proxy.close();
		this.server.kill();
	}

	private void openWith(Duration limit) {
		this.server = ZooKeeperServerProcess.onData(this.data, 0, limit);
		this.fixture = new ZooKeeperFixture("127.0.0.1:" + this.server.port(), LONG);
		this.proxy = new TcpProxy(this.server.address());
		this.process = this.fixture.newProcess("127.0.0.1:" + this.proxy.port());
		this.process.check(PATIENCE);
	}

	private void restartWith(Duration limit) {
		this.server.kill();
		this.server = ZooKeeperServerProcess.onData(this.data, this.server.port(), limit);
	}

	private AttemptResult attempt(ZooKeeperLockProvider provider) {
		return resultOf(provider.newContender(this.key, () -> {
			// Ignored: the test attempts by itself.
		}).attempt(OwnerId.random(), LEASE, false, PATIENCE), PATIENCE);
	}

	private void awaitTimeout(Session session, Duration granted) {
		await().atMost(PATIENCE).until(() -> session.grantedTimeoutNanos() == granted.toNanos());
	}

	/** Waits until the deadline has moved twice: the heartbeats prove each other. */
	private static void awaitHeartbeats(Session session) {
		for (int move = 0; move < 2; move++) {
			long last = session.until();
			await().atMost(PATIENCE).pollInterval(Duration.ofMillis(1)).until(() -> session.until() - last > 0);
		}
	}

	/**
	 * Attempts as a rival until it is granted, which must be after the holder's deadline.
	 */
	private void assertOutlivesItsDeadline(ZooKeeperLockProvider rival, LockGrant grant) {
		while (true) {
			long attemptedAt = System.nanoTime();
			try {
				if (attempt(rival) instanceof AttemptResult.Granted) {
					assertThat(grant.sessionDeadline().until() - attemptedAt)
						.as("nanoseconds that the holder still relied on it")
						.isNegative();
					return;
				}
			}
			catch (LockProviderException ex) {
				assertThat(ex).as("The server is being started").isNotNull();
			}
		}
	}

	@Test
	void smallerTimeoutBringsTheDeadlineForward() {
		openWith(LONG);
		LockGrant grant = ((AttemptResult.Granted) attempt(this.process)).grant();
		Session session = this.process.sessions().awaitReady(Deadline.after(PATIENCE));
		AtomicInteger signals = new AtomicInteger();
		session.onShortened(signals::incrementAndGet);
		ZooKeeperLockProvider rival = this.fixture.newProcess();
		restartWith(SHORT);
		awaitTimeout(session, SHORT);
		try (WireFault silence = this.proxy.blackHole()) {
			assertThat(grant.sessionDeadline().until() - System.nanoTime()).isLessThan(SHORT.toNanos());
			await().atMost(PATIENCE).until(() -> signals.get() == 1);
			assertThat(session.hasEnded()).isFalse();
			assertOutlivesItsDeadline(rival, grant);
			assertThat(silence.hits()).isPositive();
		}
	}

	@Test
	void sessionLastsOnWithASmallerTimeout() {
		openWith(LONG);
		Session session = this.process.sessions().awaitReady(Deadline.after(PATIENCE));
		restartWith(SHORT);
		awaitTimeout(session, SHORT);
		awaitHeartbeats(session);
		LockGrant grant = ((AttemptResult.Granted) attempt(this.process)).grant();
		await().during(SHORT.multipliedBy(2))
			.atMost(PATIENCE)
			.until(() -> grant.sessionDeadline().until() - System.nanoTime() > 0);
		assertThat(this.process.sessions().present()).isSameAs(session);
	}

	@Test
	void largerTimeoutIsNotReliedUponAfterTheNextRestart() {
		openWith(OUTLIVES_A_RESTART);
		Session session = this.process.sessions().awaitReady(Deadline.after(PATIENCE));
		restartWith(LONG);
		awaitTimeout(session, LONG);
		awaitHeartbeats(session);
		ZooKeeperLockProvider rival = this.fixture.newProcess();
		LockGrant grant = ((AttemptResult.Granted) attempt(this.process)).grant();
		assertThat(grant.sessionDeadline().until() - System.nanoTime()).isLessThan(OUTLIVES_A_RESTART.toNanos());
		// The server begins again with the time-out that it has stored.
		WireFault cut = this.proxy.onRequest((packet) -> true, Effect.BLACK_HOLE);
		restartWith(LONG);
		assertOutlivesItsDeadline(rival, grant);
		assertThat(cut.hits()).isPositive();
		cut.close();
	}

}
