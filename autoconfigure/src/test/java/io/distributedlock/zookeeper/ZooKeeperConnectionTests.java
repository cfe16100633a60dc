package io.distributedlock.zookeeper;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.testkit.FrozenProcesses;
import io.distributedlock.testkit.Soak;
import io.distributedlock.testkit.StoreFaults.Fault;
import io.distributedlock.testkit.TcpProxy;
import io.distributedlock.testkit.TimeBounds;
import io.distributedlock.testkit.WireFault;
import io.distributedlock.testkit.WireFault.Effect;
import io.distributedlock.zookeeper.session.Session;

import static io.distributedlock.testkit.StoreCalls.outcomeOf;
import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests of lost connections, for less or more than the session's time-out.
 */
@Tag("full")
class ZooKeeperConnectionTests {

	private static final Duration LEASE = Duration.ofSeconds(60);

	/** Locks survive a client that sends no heartbeat for 0.4 of it. */
	private static final Duration SESSION = Duration.ofSeconds(5);

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	private static final Duration PATIENCE = Duration.ofSeconds(20);

	/** Less than the silence after which a call drops its connection. */
	private static final Duration SILENCE = Duration.ofMillis(500);

	private final ZooKeeperServerProcess server = ZooKeeperServerProcess.shared();

	private final ZooKeeperFixture fixture = new ZooKeeperFixture(TestZooKeeper.connectString(), SESSION);

	private final TcpProxy proxy = new TcpProxy(this.server.address());

	private final ZooKeeperLockProvider process = this.fixture.newProcess("127.0.0.1:" + this.proxy.port());

	private final ZooKeeperLockProvider rival = this.fixture.newProcess();

	private final LockKey key = LockKey.of("connection", "key");

	@AfterEach
	void close() {
		this.fixture.close();
		this.proxy.close();
	}

	private static LockContender enter(ZooKeeperLockProvider process, LockKey key) {
		return process.newContender(key, () -> {
			// Ignored: the test attempts by itself.
		});
	}

	private static AttemptResult attempt(ZooKeeperLockProvider process, LockKey key, boolean willWait) {
		return attempt(process, key, willWait, PATIENCE);
	}

	private static AttemptResult attempt(ZooKeeperLockProvider process, LockKey key, boolean willWait,
			Duration timeout) {
		return resultOf(enter(process, key).attempt(OwnerId.random(), LEASE, willWait, timeout), timeout);
	}

	private static ReleaseOutcome release(ZooKeeperLockProvider process, LockGrant grant, Duration timeout) {
		return outcomeOf(process.release(grant.key(), grant.owner(), timeout), timeout);
	}

	private static LockGrant acquire(ZooKeeperLockProvider process, LockKey key) {
		return ((AttemptResult.Granted) attempt(process, key, false)).grant();
	}

	private static boolean isFree(ZooKeeperLockProvider process, LockKey key) {
		return attempt(process, key, true) instanceof AttemptResult.Granted;
	}

	/** Waits until the client has noticed that its connection was cut. */
	private void awaitAnswers() {
		LockKey other = LockKey.of("connection", "other");
		await().atMost(PATIENCE)
			.ignoreExceptionsInstanceOf(LockProviderException.class)
			.until(() -> release(this.process, acquire(this.process, other), TIMEOUT),
					(outcome) -> outcome == ReleaseOutcome.RELEASED);
	}

	@Test
	void lockSurvivesACutShorterThanTheSession() {
		LockGrant grant = acquire(this.process, this.key);
		for (int round = 0; round < 3; round++) {
			this.proxy.cutAll();
			awaitAnswers();
			assertThat(attempt(this.rival, this.key, false)).isInstanceOf(AttemptResult.Busy.class);
		}
		await().during(SESSION).atMost(PATIENCE).until(() -> grant.sessionDeadline().until() - System.nanoTime() > 0);
		assertThat(release(this.process, grant, TIMEOUT)).isEqualTo(ReleaseOutcome.RELEASED);
	}

	@Test
	void lockIsLostBeforeARivalAcquiresItAfterALongCut() {
		LockGrant grant = acquire(this.process, this.key);
		try (WireFault silence = this.proxy.blackHole()) {
			boolean granted = false;
			while (!granted) {
				long attemptedAt = System.nanoTime();
				granted = attempt(this.rival, this.key, false) instanceof AttemptResult.Granted;
				assertThat(granted && grant.sessionDeadline().until() - attemptedAt > 0).as("two processes rely on it")
					.isFalse();
			}
			assertThat(silence.hits()).isPositive();
		}
		assertThat(release(this.process, grant, PATIENCE)).isNotEqualTo(ReleaseOutcome.RELEASED);
		assertThat(attempt(this.process, this.key, false)).isInstanceOf(AttemptResult.Busy.class);
	}

	@Test
	void grantAfterACutBelongsToTheLivingSession() {
		cutAndAcquireAtOnce(8);
	}

	@Test
	@Soak
	void grantAfterFiveHundredCutsBelongsToTheLivingSession() {
		cutAndAcquireAtOnce(500);
	}

	/**
	 * Cuts the connection or ends the session in turn, and acquires directly afterwards.
	 */
	private void cutAndAcquireAtOnce(int rounds) {
		for (int round = 0; round < rounds; round++) {
			LockKey fresh = LockKey.of("connection", "cut-" + round + "-");
			Session session = await().atMost(PATIENCE)
				.pollInterval(Duration.ofMillis(5))
				.until(() -> this.process.sessions().present(), Objects::nonNull);
			if (round % 2 == 0) {
				this.proxy.cutAll();
			}
			else {
				this.server.endSession(session.id());
			}
			LockGrant held = acquireDespiteFailures(fresh);
			if (held.sessionDeadline().until() - System.nanoTime() > 0) {
				assertThat(attempt(this.rival, fresh, false)).as("round %s", round)
					.isInstanceOf(AttemptResult.Busy.class);
				assertThat(release(this.process, held, PATIENCE)).isEqualTo(ReleaseOutcome.RELEASED);
			}
			else {
				await().atMost(PATIENCE).until(() -> isFree(this.rival, fresh));
			}
		}
	}

	private LockGrant acquireDespiteFailures(LockKey fresh) {
		while (true) {
			try {
				AttemptResult attempt = attempt(this.process, fresh, false);
				assertThat(attempt).as("no rival attempts").isInstanceOf(AttemptResult.Granted.class);
				return ((AttemptResult.Granted) attempt).grant();
			}
			catch (LockException ex) {
				assertThat(ex.error()).isIn(LockError.STORE_FAILED, LockError.STORE_TIMEOUT);
			}
		}
	}

	@Test
	void lateAnswersProveASessionForLess() {
		Session session = await().until(() -> this.process.sessions().present(), Objects::nonNull);
		Duration delay = SESSION.dividedBy(4);
		String node = "/processes/" + Long.toHexString(session.id());
		try (WireFault late = this.proxy
			.onReplyTo((packet) -> new String(packet, StandardCharsets.ISO_8859_1).contains(node), Effect.DELAY)
			.by(delay)) {
			await().atMost(PATIENCE).until(() -> late.hits() >= 3);
			for (int move = 0; move < 2; move++) {
				long last = session.until();
				await().atMost(PATIENCE).pollInterval(Duration.ofMillis(1)).until(() -> session.until() != last);
				// Its own answer, the one before, and a quarter of the time-out between.
				assertThat(Duration.ofNanos(session.until() - System.nanoTime()))
					.isLessThan(SESSION.minus(delay.multipliedBy(2)).minus(SESSION.dividedBy(4)));
			}
		}
	}

	@Test
	void failedReleaseCompletesAfterReconnect() {
		LockGrant grant = acquire(this.process, this.key);
		try (WireFault silence = this.proxy.blackHole()) {
			assertThat(release(this.process, grant, Duration.ofMillis(100))).isEqualTo(ReleaseOutcome.UNKNOWN);
			await().until(() -> silence.hits() > 0);
			assertThat(attempt(this.rival, this.key, false)).isInstanceOf(AttemptResult.Busy.class);
		}
		await().atMost(PATIENCE).until(() -> attempt(this.rival, this.key, false) instanceof AttemptResult.Granted);
	}

	@Test
	void callWithShortTimeoutLeavesOtherCallsAlone() {
		acquire(this.process, this.key);
		AtomicInteger rounds = new AtomicInteger();
		await().atMost(Duration.ofMinutes(1)).until(() -> shortCallLeavesOtherCallAlone(rounds.incrementAndGet()));
	}

	/** A round shows nothing where the silence was so long that it ends a connection. */
	private boolean shortCallLeavesOtherCallAlone(int round) {
		LockKey other = LockKey.of("connection", "patient-" + round);
		LockKey shorter = LockKey.of("connection", "impatient-" + round);
		try (Fault frozen = FrozenProcesses.freeze(this.server.handle())) {
			long begun = System.nanoTime();
			CompletableFuture<AttemptResult> patient = CompletableFuture
				.supplyAsync(() -> attempt(this.process, other, false));
			assertThatExceptionOfType(LockProviderException.class)
				.isThrownBy(() -> attempt(this.process, shorter, false, Duration.ofMillis(50)));
			if (System.nanoTime() - begun > SILENCE.toNanos()) {
				return false;
			}
			frozen.close();
			assertThat(patient.join()).isInstanceOf(AttemptResult.Granted.class);
			return true;
		}
	}

	@Test
	void reservationOfADeadHeadExpires() {
		LockGrant grant = acquire(this.rival, this.key);
		attempt(this.process, this.key, true);
		ZooKeeperLockProvider second = this.fixture.newProcess();
		attempt(second, this.key, true);
		this.proxy.refuse();
		assertThat(release(this.rival, grant, TIMEOUT)).isEqualTo(ReleaseOutcome.RELEASED);
		long released = System.nanoTime();
		await().atMost(PATIENCE).pollInterval(Duration.ofMillis(20)).until(() -> isFree(second, this.key));
		assertThat(Duration.ofNanos(System.nanoTime() - released)).isLessThan(TimeBounds.withLoad(SESSION));
	}

	@Test
	void reservationOfADeadReleaserEndsWithItsSession() {
		LockGrant grant = acquire(this.process, this.key);
		ZooKeeperLockProvider dead = this.fixture.newProcess();
		attempt(dead, this.key, true);
		String releaser = Long.toHexString(this.process.sessions().present().id());
		assertThat(this.fixture.children(this.fixture.root() + "/processes")).contains(releaser);
		this.fixture.keepReservationsOf(this.process);
		assertThat(release(this.process, grant, TIMEOUT)).isEqualTo(ReleaseOutcome.RELEASED);
		this.proxy.refuse();
		assertThat(attempt(this.rival, this.key, false)).as("reserved").isInstanceOf(AttemptResult.Busy.class);
		await().atMost(PATIENCE).pollInterval(Duration.ofMillis(20)).until(() -> isFree(this.rival, this.key));
		assertThat(this.fixture.children(this.fixture.root() + "/processes")).as("sessions").doesNotContain(releaser);
	}

}
