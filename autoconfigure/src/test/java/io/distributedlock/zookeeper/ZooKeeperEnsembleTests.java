package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;

import org.apache.curator.framework.CuratorFramework;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.testkit.TimeBounds;
import io.distributedlock.testkit.WireFault;
import io.distributedlock.zookeeper.session.Session;

import static io.distributedlock.testkit.StoreCalls.outcomeOf;
import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests of an ensemble whose servers are cut off from each other or die.
 */
@Timeout(120)
@Tag("full")
class ZooKeeperEnsembleTests {

	private static final Duration LEASE = Duration.ofMinutes(5);

	private static final Duration PATIENCE = Duration.ofSeconds(45);

	/** Survives a client that sends no heartbeat for 0.4 of it. */
	private static final Duration SHORT = Duration.ofSeconds(3);

	/** Outlasts the election of a leader. */
	private static final Duration LONG = Duration.ofSeconds(50);

	private final ZooKeeperEnsemble ensemble = ZooKeeperEnsemble.shared();

	private final LockKey key = LockKey.of("ensemble", "key");

	private ZooKeeperFixture fixture;

	@AfterEach
	void close() {
		this.fixture.close();
	}

	private void openWith(Duration session) {
		this.fixture = new ZooKeeperFixture(this.ensemble.connectString(), session);
	}

	private static AttemptResult attempt(ZooKeeperLockProvider process, LockKey key, Duration timeout) {
		return resultOf(process.newContender(key, () -> {
			// Ignored: the test attempts by itself.
		}).attempt(OwnerId.random(), LEASE, false, timeout), timeout);
	}

	private static ReleaseOutcome release(ZooKeeperLockProvider process, LockGrant grant, Duration timeout) {
		return outcomeOf(process.release(grant.key(), grant.owner(), timeout), timeout);
	}

	private static LockGrant acquire(ZooKeeperLockProvider process, LockKey key) {
		AtomicReference<@Nullable LockGrant> grant = new AtomicReference<>();
		await().atMost(PATIENCE).pollInterval(Duration.ofMillis(20)).until(() -> {
			try {
				grant.set((attempt(process, key, Duration.ofSeconds(1)) instanceof AttemptResult.Granted granted)
						? granted.grant() : null);
			}
			catch (LockException ex) {
				assertThat(ex.error()).isIn(LockError.STORE_FAILED, LockError.STORE_TIMEOUT);
			}
			return grant.get() != null;
		});
		return grant.get();
	}

	/**
	 * Attempts as a rival until it is granted, which must be after the holder's deadline.
	 */
	private void assertOutlivesItsDeadline(ZooKeeperLockProvider rival, LockGrant grant, Runnable meanwhile) {
		while (true) {
			meanwhile.run();
			long attemptedAt = System.nanoTime();
			if (attempt(rival, this.key, PATIENCE) instanceof AttemptResult.Granted granted) {
				assertThat(grant.sessionDeadline().until() - attemptedAt)
					.as("nanoseconds that the holder still relied on it")
					.isNegative();
				assertThat(granted.grant().order()).isGreaterThan(grant.order());
				release(rival, granted.grant(), PATIENCE);
				return;
			}
		}
	}

	@Test
	void readsFromACutOffFollowerDoNotMoveTheDeadline() throws Exception {
		openWith(SHORT);
		ZooKeeperServerProcess follower = this.ensemble.followers().get(0);
		ZooKeeperLockProvider holder = this.fixture.newProcess(ZooKeeperEnsemble.connectString(follower));
		ZooKeeperLockProvider rival = this.fixture.newProcess(ZooKeeperEnsemble.connectString(this.ensemble.leader()));
		LockGrant grant = acquire(holder, this.key);
		Session session = holder.sessions().awaitReady(Deadline.after(PATIENCE));
		CuratorFramework witness = this.fixture.client(ZooKeeperEnsemble.connectString(follower));
		String lockNode = this.fixture.path(this.key).lockNode();
		assertThat(witness.checkExists().forPath(lockNode)).isNotNull();
		awaitHeartbeats(session);
		WireFault cut = this.ensemble.way(follower).blackHole();
		try {
			assertOutlivesItsDeadline(rival, grant, () -> session.operations().read(lockNode, null));
			assertThat(witness.checkExists().forPath(lockNode)).as("the follower's answer")
				.satisfies((stat) -> assertThat(stat.getCzxid()).isEqualTo(grant.order()));
			assertThat(release(holder, grant, Duration.ofMillis(300))).isIn(ReleaseOutcome.UNKNOWN,
					ReleaseOutcome.NOT_HELD);
		}
		finally {
			cut.close();
			this.ensemble.awaitAll();
		}
	}

	/** Waits until the deadline has moved often, and until it has just moved again. */
	private static void awaitHeartbeats(Session session) {
		long first = session.until();
		await().until(() -> session.until() - first > SHORT.toNanos() / 2);
		long last = session.until();
		await().pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(1)).until(() -> session.until() != last);
	}

	@Test
	void lockNodeOutlivesTheDeadlineAfterItsFollowerDies() {
		openWith(SHORT);
		ZooKeeperServerProcess follower = this.ensemble.followers().get(0);
		ZooKeeperLockProvider rival = this.fixture.newProcess(ZooKeeperEnsemble.connectString(this.ensemble.leader()));
		// This client has no other server, so that its session ends.
		ZooKeeperLockProvider holder = this.fixture.newProcess(ZooKeeperEnsemble.connectString(follower));
		Session session = holder.sessions().awaitReady(Deadline.after(PATIENCE));
		long first = session.until();
		await().pollInterval(Duration.ofMillis(1)).until(() -> session.until() != first);
		LockGrant grant = acquire(holder, this.key);
		follower.kill();
		try {
			assertOutlivesItsDeadline(rival, grant, () -> {
			});
		}
		finally {
			this.ensemble.restart(follower);
			this.ensemble.awaitAll();
		}
	}

	@Test
	void lockSurvivesTheDeathOfItsServer() {
		openWith(LONG);
		ZooKeeperLockProvider holder = this.fixture.newProcess();
		ZooKeeperLockProvider rival = this.fixture.newProcess();
		LockGrant grant = acquire(holder, this.key);
		Session session = holder.sessions().awaitReady(Deadline.after(PATIENCE));
		ZooKeeperServerProcess server = this.ensemble.servers()
			.stream()
			.filter((each) -> session.zooKeeper().toString().contains(":" + each.port() + " "))
			.findFirst()
			.orElseThrow();
		server.kill();
		this.ensemble.restart(server);
		release(holder, grant);
		assertThat(session.hasEnded()).isFalse();
		release(rival, acquire(rival, this.key));
		this.ensemble.awaitAll();
	}

	private static void release(ZooKeeperLockProvider holder, LockGrant grant) {
		await().atMost(PATIENCE).until(() -> release(holder, grant, Duration.ofSeconds(1)) == ReleaseOutcome.RELEASED);
	}

	@Test
	void lockAndOrderSurviveTheDeathOfTheLeader() {
		openWith(LONG);
		ZooKeeperLockProvider holder = this.fixture.newProcess();
		ZooKeeperLockProvider rival = this.fixture.newProcess();
		LockGrant grant = acquire(holder, this.key);
		ZooKeeperServerProcess leader = this.ensemble.leader();
		leader.kill();
		this.ensemble.restart(leader);
		await().atMost(PATIENCE)
			.ignoreExceptions()
			.untilAsserted(() -> assertThat(attempt(rival, this.key, Duration.ofSeconds(1)))
				.isInstanceOf(AttemptResult.Busy.class));
		assertThat(grant.sessionDeadline().until() - System.nanoTime()).isPositive();
		release(holder, grant);
		LockGrant next = acquire(rival, this.key);
		assertThat(next.order() >> 32).as("epoch").isGreaterThan(grant.order() >> 32);
		release(rival, next);
		this.ensemble.awaitAll();
	}

	@Test
	void lostQuorumFailsInTimeAndEndsWithoutARestart() {
		openWith(LONG);
		ZooKeeperLockProvider process = this.fixture.newProcess();
		ZooKeeperLockProvider rival = this.fixture.newProcess();
		LockGrant grant = acquire(process, this.key);
		var followers = this.ensemble.followers();
		followers.forEach(ZooKeeperServerProcess::kill);
		try {
			for (int round = 0; round < 2; round++) {
				long begun = System.nanoTime();
				assertThatExceptionOfType(LockProviderException.class)
					.isThrownBy(() -> attempt(rival, this.key, Duration.ofSeconds(1)))
					.satisfies((ex) -> assertThat(ex.error()).isIn(LockError.STORE_FAILED, LockError.STORE_TIMEOUT));
				assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(TimeBounds.withLoad(3250));
			}
			assertThat(grant.sessionDeadline().until() - System.nanoTime()).isPositive();
		}
		finally {
			followers.forEach(this.ensemble::restart);
		}
		await().atMost(PATIENCE)
			.ignoreExceptions()
			.untilAsserted(() -> assertThat(attempt(rival, this.key, Duration.ofSeconds(1)))
				.isInstanceOf(AttemptResult.Busy.class));
		release(process, grant);
		release(rival, acquire(rival, this.key));
		this.ensemble.awaitAll();
	}

}
