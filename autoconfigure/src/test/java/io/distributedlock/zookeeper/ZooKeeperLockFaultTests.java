package io.distributedlock.zookeeper;

import java.time.Duration;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.testkit.LockProviderFaultContract;
import io.distributedlock.testkit.LockProviderFixture;
import io.distributedlock.testkit.StoreFaults.Command;
import io.distributedlock.testkit.TcpProxy;
import io.distributedlock.testkit.WireFault;
import io.distributedlock.testkit.WireFault.Effect;

import static io.distributedlock.testkit.StoreCalls.outcomeOf;
import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Fault tests on one server. Each test has its own root, so that tests which do not
 * disturb the server run in parallel.
 */
@Execution(ExecutionMode.CONCURRENT)
@Tag("full")
class ZooKeeperLockFaultTests extends LockProviderFaultContract {

	/**
	 * Heartbeats come at 0.3 of it, and the deadline counts from the one before the last:
	 * locks survive a server that is frozen for 0.4 of it.
	 */
	static final Duration SESSION = Duration.ofSeconds(40);

	private static final Duration LEASE = Duration.ofSeconds(60);

	static final Duration TIMEOUT = Duration.ofSeconds(1);

	@Override
	protected LockProviderFixture createFixture() {
		ZooKeeperFixture fixture = new ZooKeeperFixture(TestZooKeeper.connectString(), SESSION);
		return fixture.with(new ZooKeeperFaults(fixture));
	}

	/**
	 * A server ignores the former connection of a session after it has accepted another,
	 * so that a delayed request never takes effect.
	 */
	@Test
	@Override
	public void lateAcquireAfterItsReleaseEndsWithinOneLease() {
		LockKey key = LockKey.of("fault", "held-back");
		TcpProxy proxy = proxy();
		ZooKeeperLockProvider process = (ZooKeeperLockProvider) faults().newProcess(proxy);
		attempt(process, LockKey.of("fault", "first"));
		WireFault held = proxy.onRequest(faults().packet(Command.ACQUIRE, key), Effect.HOLD).once();
		OwnerId owner = OwnerId.random();
		LockContender contender = process.newContender(key, () -> {
			// Ignored: the test attempts by itself.
		});
		assertThatExceptionOfType(LockProviderException.class)
			.isThrownBy(() -> resultOf(contender.attempt(owner, LEASE, true, TIMEOUT), TIMEOUT));
		await().until(() -> held.hits() == 1);
		await().until(() -> outcomeOf(process.release(key, owner, TIMEOUT), TIMEOUT) == ReleaseOutcome.NOT_HELD);
		assertThat(process.undecided().size()).isZero();
		held.close();
		await().during(Duration.ofMillis(300)).until(() -> fixture().heldEntries() == 1);
		assertThat(attempt(process, key)).isInstanceOf(AttemptResult.Granted.class);
	}

	static LockGrant acquire(ZooKeeperLockProvider process, LockKey key) {
		return ((AttemptResult.Granted) attempt(process, key)).grant();
	}

	private static AttemptResult attempt(ZooKeeperLockProvider process, LockKey key) {
		LockContender contender = process.newContender(key, () -> {
			// Ignored: the test attempts by itself.
		});
		return resultOf(contender.attempt(OwnerId.random(), LEASE, false, Duration.ofSeconds(5)));
	}

}
