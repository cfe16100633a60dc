package io.distributedlock.redis;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockListener;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.redis.script.RedisLayout;

import static io.distributedlock.testkit.StoreCalls.outcomeOf;
import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Processes with locks in Redis, closed after the test.
 */
public final class RedisProcesses implements AfterEachCallback {

	public static final String PREFIX = "faults";

	public static final Duration LEASE = Duration.ofSeconds(30);

	public static final Duration TIMEOUT = Duration.ofSeconds(5);

	public static final RedisLayout LAYOUT = new RedisLayout(PREFIX);

	private final Deque<AutoCloseable> opened = new ArrayDeque<>();

	public <T extends AutoCloseable> T closing(T opened) {
		this.opened.push(opened);
		return opened;
	}

	/** Creates a process with connections of its own. */
	public RedisLockProvider provider(RedisConnectionFactory factory) {
		return provider(factory, RedisLockSettings.defaults(PREFIX));
	}

	public RedisLockProvider provider(RedisConnectionFactory factory, RedisLockSettings settings) {
		closing(() -> ((DisposableBean) factory).destroy());
		// Opening the first connection of a JVM is slow.
		factory.getConnection().close();
		return closing(new RedisLockProvider(factory, settings));
	}

	/** Acquires a lock right after a fault: again until the process has a connection. */
	public static LockLease acquireAgain(LockTemplate locks, LockRequest request) {
		return await().atMost(Duration.ofMinutes(1))
			.ignoreExceptionsInstanceOf(LockProviderException.class)
			.until(() -> locks.acquire(request), Objects::nonNull);
	}

	/** Creates the engine of a process with connections of its own. */
	public LockTemplate locks(RedisConnectionFactory factory, LockListener... listeners) {
		return locks(provider(factory), LockSettings.defaults(), listeners);
	}

	public LockTemplate locks(LockProvider provider, LockSettings settings, LockListener... listeners) {
		LockTimer timer = closing(new LockTimer());
		return closing(new LockTemplate(provider, settings, timer, List.of(), List.of(listeners)));
	}

	static LockRequest request(LockKey key, Duration lease, Duration waitTime) {
		return LockRequest.of(key).withLease(lease).withWaitTime(waitTime);
	}

	public static LockContender enter(LockProvider provider, LockKey key) {
		return provider.newContender(key, () -> {
			// The tests attempt by themselves.
		});
	}

	public static AttemptResult attempt(LockProvider provider, LockKey key) {
		return resultOf(enter(provider, key).attempt(OwnerId.random(), LEASE, false, TIMEOUT), TIMEOUT);
	}

	static AttemptResult enqueue(LockContender contender) {
		return resultOf(contender.attempt(OwnerId.random(), LEASE, true, TIMEOUT), TIMEOUT);
	}

	public static LockGrant acquire(LockProvider provider, LockKey key) {
		return granted(attempt(provider, key));
	}

	static LockGrant granted(AttemptResult attempt) {
		assertThat(attempt).isInstanceOf(AttemptResult.Granted.class);
		return ((AttemptResult.Granted) attempt).grant();
	}

	public static ReleaseOutcome release(LockProvider provider, LockGrant grant) {
		return outcomeOf(provider.release(grant.key(), grant.owner(), TIMEOUT), TIMEOUT);
	}

	static RenewalOutcome renew(LockProvider provider, LockGrant grant) {
		return resultOf(provider.renew(Map.of(grant, LEASE), TIMEOUT), TIMEOUT).getOrDefault(grant,
				RenewalOutcome.UNKNOWN);
	}

	@Override
	public void afterEach(ExtensionContext context) throws Exception {
		while (!this.opened.isEmpty()) {
			this.opened.pop().close();
		}
	}

}
