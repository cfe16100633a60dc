package io.distributedlock.zookeeper;

import java.net.InetSocketAddress;
import java.time.Duration;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.LockProvider.Attempt;
import io.distributedlock.LockProvider.Grant;
import io.distributedlock.LockProvider.ReleaseOutcome;
import io.distributedlock.OwnerId;
import io.distributedlock.support.StoreFaults.Command;
import io.distributedlock.support.TcpProxy;
import io.distributedlock.support.WireFault.Effect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The answer to what took effect is lost: nobody's door is taken for another's.
 */
class ZooKeeperLostAnswerTests {

	private static final Duration LEASE = Duration.ofSeconds(60);

	private static final Duration TIMEOUT = Duration.ofSeconds(1);

	private static final Duration PATIENCE = Duration.ofSeconds(10);

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

	private static Attempt attempt(ZooKeeperLockProvider process, LockKey key) {
		return process.enter(key, () -> {
			// Nobody waits for the signal.
		}).attempt(OwnerId.random(), LEASE, false, PATIENCE);
	}

	private static Grant take(ZooKeeperLockProvider process, LockKey key) {
		return ((Attempt.Granted) attempt(process, key)).grant();
	}

	@Test
	void rivalKeepsItsDoorThoughTheAnswerToTheReleaseBeforeWasLost() {
		loseAnswersToReleases(4);
	}

	@Test
	@Tag("soak")
	@Timeout(1800)
	void rivalKeepsItsDoorThoughFiveHundredAnswersToReleasesWereLost() {
		loseAnswersToReleases(500);
	}

	private void loseAnswersToReleases(int rounds) {
		for (int round = 0; round < rounds; round++) {
			LockKey key = LockKey.of("lost", "release-" + round + "-");
			Grant grant = take(this.process, key);
			this.proxy.onReplyTo(this.faults.packet(Command.RELEASE, key), Effect.CUT).once();
			ReleaseOutcome first = this.process.release(key, grant.owner(), Duration.ofMillis(20));
			assertThat(first).isEqualTo(ReleaseOutcome.UNKNOWN);
			Grant next = take(this.rival, key);
			await().atMost(PATIENCE)
				.pollInterval(Duration.ofMillis(5))
				.until(() -> this.process.release(key, grant.owner(), TIMEOUT) == ReleaseOutcome.RELEASED);
			assertThat(attempt(this.process, key)).isInstanceOf(Attempt.Busy.class);
			assertThat(this.rival.release(key, next.owner(), TIMEOUT)).isEqualTo(ReleaseOutcome.RELEASED);
		}
		assertThat(this.fixture.heldEntries()).isZero();
	}

	@Test
	void doorWhoseAnswerWasLostIsTakenDownAndTheNextOneIsNot() {
		loseAnswersToAcquires(4);
	}

	@Test
	@Tag("soak")
	@Timeout(1800)
	void fiveHundredDoorsWhoseAnswersWereLostAreTakenDown() {
		loseAnswersToAcquires(500);
	}

	private void loseAnswersToAcquires(int rounds) {
		for (int round = 0; round < rounds; round++) {
			LockKey key = LockKey.of("lost", "acquire-" + round + "-");
			await().atMost(PATIENCE).until(() -> this.process.sessions().present() != null);
			this.proxy.onReplyTo(this.faults.packet(Command.ACQUIRE, key), Effect.CUT).once();
			OwnerId owner = OwnerId.random();
			assertThatExceptionOfType(LockException.class).isThrownBy(() -> this.process.enter(key, () -> {
				// Nobody waits for the signal.
			}).attempt(owner, LEASE, false, TIMEOUT));
			Grant grant = take(this.process, key);
			assertThat(this.process.release(key, owner, TIMEOUT)).as("of the door before")
				.isEqualTo(ReleaseOutcome.RELEASED);
			assertThat(attempt(this.rival, key)).isInstanceOf(Attempt.Busy.class);
			assertThat(this.process.release(key, grant.owner(), TIMEOUT)).isEqualTo(ReleaseOutcome.RELEASED);
		}
		assertThat(this.fixture.heldEntries()).isZero();
	}

}
