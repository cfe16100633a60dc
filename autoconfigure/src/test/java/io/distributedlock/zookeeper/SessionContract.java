package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

import io.distributedlock.LockKey;
import io.distributedlock.LockLostException;
import io.distributedlock.LockRequest;
import io.distributedlock.LossReason;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.testkit.LockProviderFixture;

import static io.distributedlock.testkit.StoreCalls.outcomeOf;
import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Two promises of the contract in the form in which ZooKeeper can break them. In
 * ZooKeeper a grant ends without its holder only by the end of the session: after a lock
 * node was deleted by hand, the server cannot distinguish the next one from it.
 */
final class SessionContract {

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	private SessionContract() {
	}

	static void releaseAfterTheEndOfTheSession(LockProviderFixture fixture,
			Consumer<ZooKeeperLockProvider> endSession) {
		LockKey key = LockKey.of("contract", "ended-session");
		ZooKeeperLockProvider first = (ZooKeeperLockProvider) fixture.newProcess();
		ZooKeeperLockProvider second = (ZooKeeperLockProvider) fixture.newProcess();
		LockGrant stale = ((AttemptResult.Granted) attempt(first, key)).grant();
		endSession.accept(first);
		await().until(() -> attempt(second, key) instanceof AttemptResult.Granted);
		// The answer to a release may be lost as the session ends: the next one tells it.
		assertThat(await().until(() -> outcomeOf(first.release(key, stale.owner(), TIMEOUT), TIMEOUT),
				(outcome) -> outcome != ReleaseOutcome.UNKNOWN))
			.isEqualTo(ReleaseOutcome.NOT_HELD);
		assertThat(attempt(first, key)).isInstanceOf(AttemptResult.Busy.class);
	}

	static void lossThatOnlyTheReleaseNotices(LockProviderFixture fixture) {
		LockKey key = LockKey.of("contract", "deleted-by-hand");
		LockTimer timer = new LockTimer();
		LockTemplate locks = new LockTemplate(fixture.newProcess(), LockSettings.defaults(), timer, List.of(),
				List.of());
		try {
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> locks.execute(LockRequest.of(key).withoutRenewal(), (lease) -> {
					fixture.expire(key);
					return "result";
				}))
				.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(LossReason.NOT_HELD));
		}
		finally {
			locks.close();
			timer.close();
		}
	}

	private static AttemptResult attempt(ZooKeeperLockProvider process, LockKey key) {
		LockContender contender = process.newContender(key, () -> {
			// Ignored: the test attempts by itself.
		});
		return resultOf(contender.attempt(OwnerId.random(), Duration.ofSeconds(30), false, TIMEOUT), TIMEOUT);
	}

}
