package io.distributedlock.redis;

import java.time.Duration;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.redis.quorum.QuorumServers;
import io.distributedlock.redis.quorum.RedisQuorumFixture;
import io.distributedlock.testkit.ContractProcess;
import io.distributedlock.testkit.FaultyProcess;
import io.distributedlock.testkit.LockProviderFaultContract;
import io.distributedlock.testkit.LockProviderFixture;
import io.distributedlock.testkit.StoreFaults.Command;
import io.distributedlock.testkit.TcpProxy;
import io.distributedlock.testkit.WireFault;
import io.distributedlock.testkit.WireFault.Effect;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** Fault tests on a quorum of three servers, of which one is down throughout. */
@Execution(ExecutionMode.CONCURRENT)
@Tag("matrix")
class RedisQuorumOfThreeLockFaultTests extends LockProviderFaultContract {

	@Override
	protected LockProviderFixture createFixture() {
		return new RedisQuorumFixture(QuorumServers.twoOfThree());
	}

	/**
	 * The release follows the attempt over the same connection: a server that runs the
	 * attempt late runs the release right after it.
	 */
	@Test
	@Override
	public void lateAcquireAfterItsReleaseEndsWithinOneLease() {
		LockKey key = freshKey();
		Duration lease = Duration.ofSeconds(2);
		Duration wait = Duration.ofMillis(500);
		TcpProxy proxy = proxy();
		FaultyProcess process = process(proxy);
		WireFault held = proxy.onRequest(faults().packet(Command.ACQUIRE, key), Effect.HOLD).once();
		LockRequest request = LockRequest.of(key).withWaitTime(wait).withLease(lease);
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> process.locks().acquire(request));
		ContractProcess other = process();
		held.close();
		await().atMost(lease.multipliedBy(2)).until(() -> !other.isBusy(key));
	}

}
