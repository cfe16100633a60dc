package io.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.provider.AnsweredStoreCall;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.provider.StoreCall;

/**
 * Store in memory whose answers a test can delay, lose or falsify, as no real store does
 * on demand.
 */
final class ScriptedLockProvider implements LockProvider {

	final LocalLockProvider store = new LocalLockProvider();

	final List<OwnerId> attempts = new CopyOnWriteArrayList<>();

	final List<Duration> attemptLeases = new CopyOnWriteArrayList<>();

	final List<OwnerId> releases = new CopyOnWriteArrayList<>();

	/** For how long each release lets the store keep the key. */
	final List<Duration> keptFor = new CopyOnWriteArrayList<>();

	final List<Map<LockGrant, Duration>> renewals = new CopyOnWriteArrayList<>();

	final List<LockKey> withdrawals = new CopyOnWriteArrayList<>();

	/** Whether waiters receive no signal that a lock may be free. */
	volatile boolean silent;

	/** Whether the engine has to keep calls off threads that must not wait. */
	private final boolean blocking;

	volatile @Nullable Function<AttemptResult, AttemptResult> onAttempt;

	/** Runs before an attempt for a key reaches the store. */
	volatile Consumer<LockKey> onAttemptFor = (key) -> {
	};

	volatile @Nullable Function<OwnerId, @Nullable ReleaseOutcome> onRelease;

	volatile @Nullable BiFunction<Map<LockGrant, Duration>, Duration, @Nullable Map<LockGrant, RenewalOutcome>> onRenew;

	/** Tells the node of a key; a test lets it fail. */
	volatile Function<LockKey, Object> node = (key) -> "node";

	ScriptedLockProvider() {
		this(false);
	}

	ScriptedLockProvider(boolean blocking) {
		this.blocking = blocking;
	}

	@Override
	public String name() {
		return "scripted";
	}

	@Override
	public boolean isBlocking() {
		return this.blocking;
	}

	@Override
	public Object node(LockKey key) {
		return this.node.apply(key);
	}

	@Override
	public LockContender newContender(LockKey key, Runnable onNotified) {
		LockContender contender = this.store.newContender(key, this.silent ? () -> {
		} : onNotified);
		return new LockContender() {

			@Override
			public StoreCall<AttemptResult> attempt(OwnerId owner, Duration lease, boolean willWait, Duration timeout) {
				ScriptedLockProvider.this.onAttemptFor.accept(key);
				ScriptedLockProvider.this.attempts.add(owner);
				ScriptedLockProvider.this.attemptLeases.add(lease);
				StoreCall<AttemptResult> answer = contender.attempt(owner, lease, willWait, timeout);
				Function<AttemptResult, AttemptResult> script = ScriptedLockProvider.this.onAttempt;
				return (script != null) ? AnsweredStoreCall.by(() -> script.apply(answer.result())) : answer;
			}

			@Override
			public StoreCall<ReleaseOutcome> withdraw(Duration timeout) {
				ScriptedLockProvider.this.withdrawals.add(key);
				return contender.withdraw(timeout);
			}

			@Override
			public void close() {
				contender.close();
			}

		};
	}

	@Override
	public StoreCall<Map<LockGrant, RenewalOutcome>> renew(Map<LockGrant, Duration> leases, Duration timeout) {
		this.renewals.add(Map.copyOf(leases));
		BiFunction<Map<LockGrant, Duration>, Duration, @Nullable Map<LockGrant, RenewalOutcome>> script = this.onRenew;
		return AnsweredStoreCall.by(() -> {
			Map<LockGrant, RenewalOutcome> answer = (script != null) ? script.apply(leases, timeout) : null;
			return (answer != null) ? answer : this.store.renew(leases, timeout).result();
		});
	}

	@Override
	public boolean supportsMinHold() {
		return true;
	}

	@Override
	public StoreCall<ReleaseOutcome> release(LockKey key, OwnerId owner, Duration keepFor, Duration timeout) {
		this.releases.add(owner);
		this.keptFor.add(keepFor);
		Function<OwnerId, @Nullable ReleaseOutcome> script = this.onRelease;
		return AnsweredStoreCall.by(() -> {
			ReleaseOutcome answer = (script != null) ? script.apply(owner) : null;
			return (answer != null) ? answer : this.store.release(key, owner, keepFor, timeout).result();
		});
	}

	@Override
	public void check(Duration timeout) {
	}

}
