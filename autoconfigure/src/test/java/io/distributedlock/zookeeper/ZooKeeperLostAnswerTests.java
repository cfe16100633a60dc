package io.distributedlock.zookeeper;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.testkit.Soak;
import io.distributedlock.testkit.StoreFaults.Command;
import io.distributedlock.testkit.TcpProxy;
import io.distributedlock.testkit.WireFault.Effect;
import io.distributedlock.zookeeper.session.LockNodeState;

import static io.distributedlock.testkit.StoreCalls.outcomeOf;
import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests of lost answers to commands that took effect.
 */
class ZooKeeperLostAnswerTests {

	private static final Duration LEASE = Duration.ofSeconds(60);

	private static final Duration TIMEOUT = Duration.ofSeconds(1);

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final ZooKeeperFixture fixture = new ZooKeeperFixture(TestZooKeeper.connectString(),
			Duration.ofSeconds(20));

	private final ZooKeeperFaults faults = new ZooKeeperFaults(this.fixture);

	private final InetSocketAddress server = this.faults.servers().get(0);

	private final TcpProxy proxy = new TcpProxy(this.server);

	private final ZooKeeperLockProvider process = (ZooKeeperLockProvider) this.faults.newProcess(this.proxy);

	private final ZooKeeperLockProvider rival = this.fixture.newProcess();

	@AfterEach
	void close() {
		this.fixture.close();
		this.proxy.close();
	}

	private static AttemptResult attempt(ZooKeeperLockProvider process, LockKey key) {
		return attempt(process.newContender(key, () -> {
			// Ignored: the test attempts by itself.
		}), OwnerId.random(), false, PATIENCE);
	}

	private static AttemptResult attempt(LockContender contender, OwnerId owner, boolean willWait, Duration timeout) {
		return resultOf(contender.attempt(owner, LEASE, willWait, timeout), timeout);
	}

	private static ReleaseOutcome release(ZooKeeperLockProvider process, LockKey key, OwnerId owner, Duration timeout) {
		return outcomeOf(process.release(key, owner, timeout), timeout);
	}

	private static LockGrant acquire(ZooKeeperLockProvider process, LockKey key) {
		return ((AttemptResult.Granted) attempt(process, key)).grant();
	}

	/** Acquires a lock whose release may still be on its way. */
	private static LockGrant acquireReleased(ZooKeeperLockProvider process, LockKey key) {
		AttemptResult attempt = await().atMost(PATIENCE)
			.pollInterval(Duration.ofMillis(5))
			.until(() -> attempt(process, key), AttemptResult.Granted.class::isInstance);
		return ((AttemptResult.Granted) attempt).grant();
	}

	@Test
	void rivalKeepsItsLockAfterALostAnswerToARelease() {
		loseAnswersToReleases(4);
	}

	@Test
	@Soak
	void rivalKeepsItsLockAfterFiveHundredLostReleases() {
		loseAnswersToReleases(500);
	}

	private void loseAnswersToReleases(int rounds) {
		for (int round = 0; round < rounds; round++) {
			LockKey key = LockKey.of("lost", "release-" + round + "-");
			LockGrant grant = acquire(this.process, key);
			this.proxy.onReplyTo(this.faults.packet(Command.RELEASE, key), Effect.CUT).once();
			// Only while this thread stalls can the client have found out by then.
			ReleaseOutcome first = release(this.process, key, grant.owner(), Duration.ofNanos(1));
			LockGrant next = acquireReleased(this.rival, key);
			if (first != ReleaseOutcome.RELEASED) {
				assertThat(first).isEqualTo(ReleaseOutcome.UNKNOWN);
				await().atMost(PATIENCE)
					.pollInterval(Duration.ofMillis(5))
					.until(() -> release(this.process, key, grant.owner(), TIMEOUT) == ReleaseOutcome.RELEASED);
			}
			assertThat(attempt(this.process, key)).isInstanceOf(AttemptResult.Busy.class);
			assertThat(release(this.rival, key, next.owner(), PATIENCE)).isEqualTo(ReleaseOutcome.RELEASED);
		}
		assertThat(this.fixture.heldEntries()).isZero();
	}

	@Test
	void waitingRivalKeepsItsLockAfterALostAnswerToARelease() {
		loseAnswersToReleasesWhileARivalWaits(6);
	}

	@Test
	@Soak
	void waitingRivalKeepsItsLockAfterFiveHundredLostReleases() {
		loseAnswersToReleasesWhileARivalWaits(500);
	}

	/**
	 * Loses in turn the answer to the refused deletion of a contended lock node, to its
	 * reservation, and to the deletion of one that the rival is about to contend.
	 */
	private void loseAnswersToReleasesWhileARivalWaits(int rounds) {
		for (int round = 0; round < rounds; round++) {
			LockKey key = LockKey.of("lost", "waited-for-" + round + "-");
			await().atMost(PATIENCE).until(() -> this.process.sessions().present() != null);
			LockGrant grant = acquire(this.process, key);
			this.proxy
				.onReplyTo((round % 3 == 1) ? this.faults.reservation(key) : this.faults.packet(Command.RELEASE, key),
						Effect.CUT)
				.once();
			CompletableFuture<LockGrant> waiting = CompletableFuture.supplyAsync(() -> waitFor(key));
			if (round % 3 < 2) {
				await().atMost(PATIENCE).until(() -> version(key) == LockNodeState.CONTENDED.version());
			}
			ReleaseOutcome first = release(this.process, key, grant.owner(), TIMEOUT);
			LockGrant next = waiting.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
			assertThat(next.order()).isGreaterThan(grant.order());
			if (first != ReleaseOutcome.RELEASED) {
				await().atMost(PATIENCE)
					.pollInterval(Duration.ofMillis(5))
					.until(() -> release(this.process, key, grant.owner(), TIMEOUT) == ReleaseOutcome.RELEASED);
			}
			await().atMost(PATIENCE).until(() -> this.process.undecided().size() == 0);
			assertThat(attempt(this.process, key)).as("round %s", round).isInstanceOf(AttemptResult.Busy.class);
			assertThat(release(this.rival, key, next.owner(), PATIENCE)).isEqualTo(ReleaseOutcome.RELEASED);
		}
		await().atMost(PATIENCE).until(() -> this.fixture.heldEntries() == 0);
	}

	@Test
	void waiterReadsItsPredecessorAgainAfterALostAnswer() {
		LockKey key = LockKey.of("lost", "predecessor-");
		acquire(this.rival, key);
		LockContender before = this.fixture.newProcess().newContender(key, () -> {
			// Ignored: the contender withdraws.
		});
		assertThat(attempt(before, OwnerId.random(), true, PATIENCE)).isInstanceOf(AttemptResult.Busy.class);
		AtomicInteger signals = new AtomicInteger();
		LockContender contender = this.process.newContender(key, signals::incrementAndGet);
		await().atMost(PATIENCE).until(() -> this.process.sessions().present() != null);
		this.proxy.onReplyTo(this.faults.predecessorRead(key), Effect.CUT).once();
		OwnerId owner = OwnerId.random();
		assertThatExceptionOfType(LockException.class).isThrownBy(() -> attempt(contender, owner, true, TIMEOUT));
		await().atMost(PATIENCE)
			.ignoreExceptionsInstanceOf(LockException.class)
			.until(() -> attempt(contender, owner, true, PATIENCE) instanceof AttemptResult.Busy);
		signals.set(0);
		assertThat(outcomeOf(before.withdraw(PATIENCE), PATIENCE)).isEqualTo(ReleaseOutcome.RELEASED);
		await().atMost(PATIENCE).until(() -> signals.get() > 0);
	}

	private LockGrant waitFor(LockKey key) {
		LockContender contender = this.rival.newContender(key, () -> {
			// Ignored: the test attempts by itself.
		});
		OwnerId owner = OwnerId.random();
		long end = System.nanoTime() + PATIENCE.toNanos();
		while (System.nanoTime() - end < 0) {
			if (attempt(contender, owner, true, PATIENCE) instanceof AttemptResult.Granted granted) {
				return granted.grant();
			}
		}
		throw new AssertionError("The rival waits in vain");
	}

	private int version(LockKey key) {
		Stat lockNode = ZooKeeperFixture
			.call(() -> this.fixture.admin().checkExists().forPath(this.fixture.path(key).lockNode()));
		return (lockNode != null) ? lockNode.getVersion() : -1;
	}

	@Test
	void lockNodeOfALostAcquireIsReleasedAndTheNextOneIsNot() {
		loseAnswersToAcquires(4);
	}

	@Test
	@Soak
	void lockNodesOfFiveHundredLostAcquiresAreReleased() {
		loseAnswersToAcquires(500);
	}

	private void loseAnswersToAcquires(int rounds) {
		for (int round = 0; round < rounds; round++) {
			LockKey key = LockKey.of("lost", "acquire-" + round + "-");
			await().atMost(PATIENCE).until(() -> this.process.sessions().present() != null);
			this.proxy.onReplyTo(this.faults.packet(Command.ACQUIRE, key), Effect.CUT).once();
			OwnerId owner = OwnerId.random();
			LockContender contender = this.process.newContender(key, () -> {
				// Ignored: the test attempts by itself.
			});
			assertThatExceptionOfType(LockException.class).isThrownBy(() -> attempt(contender, owner, false, PATIENCE));
			LockGrant grant = acquire(this.process, key);
			assertThat(release(this.process, key, owner, PATIENCE)).as("release of the lost acquire")
				.isEqualTo(ReleaseOutcome.RELEASED);
			assertThat(attempt(this.rival, key)).isInstanceOf(AttemptResult.Busy.class);
			assertThat(release(this.process, key, grant.owner(), PATIENCE)).isEqualTo(ReleaseOutcome.RELEASED);
		}
		assertThat(this.fixture.heldEntries()).isZero();
	}

}
