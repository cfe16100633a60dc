package io.distributedlock.support;

import java.time.Duration;
import java.util.Map;
import java.util.function.Supplier;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.local.LocalStore;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.CompletableStoreCall;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.provider.StoreCall;

/**
 * The store of a simulation as one process sees it: over a network that delays, loses and
 * repeats messages.
 */
final class SimulatedProvider implements LockProvider {

	private static final Duration USUAL_DELAY = Duration.ofMillis(3);

	private static final Duration LONGEST_DELAY = Duration.ofMillis(2500);

	private final SimulatedProcess process;

	private final SimulatedWorld world;

	private final LocalLockProvider local;

	private final double faults;

	/** Until when the store answers nothing. */
	private long silentUntil;

	SimulatedProvider(SimulatedProcess process, LocalStore store, double faults) {
		this.process = process;
		this.world = process.world;
		this.local = new LocalLockProvider(store);
		this.faults = faults;
	}

	/** Lets no message through for a while. */
	void cut(Duration duration) {
		this.world.record(this.process + " is cut off for " + duration.toMillis() + " ms");
		this.silentUntil = this.world.now() + duration.toNanos();
	}

	boolean isCut() {
		return this.world.now() < this.silentUntil;
	}

	private boolean isLost() {
		return isCut() || this.world.happens(0.02 * this.faults);
	}

	private long delay() {
		return this.world.duration(this.world.happens(0.03 * this.faults) ? LONGEST_DELAY : USUAL_DELAY);
	}

	private <T> StoreCall<T> call(String what, Supplier<StoreCall<T>> command) {
		CompletableStoreCall<T> call = new CompletableStoreCall<>();
		if (this.world.happens(0.02 * this.faults)) {
			this.process.later(delay(), () -> call.fail(
					LockProviderException.nothingSent(LockError.STORE_FAILED, name(), "refused the connection", null)));
			return call;
		}
		boolean lostRequest = isLost();
		boolean repeated = this.world.happens(0.01 * this.faults);
		if (!lostRequest) {
			this.world.after(delay(), () -> execute(what, command, call));
		}
		if (repeated) {
			this.world.after(delay(), () -> {
				T answer = command.get().result();
				this.world.record(this.process + " repeats " + what + " -> " + answer);
				recordGrant(answer);
			});
		}
		return call;
	}

	private <T> void execute(String what, Supplier<StoreCall<T>> command, CompletableStoreCall<T> call) {
		T answer = command.get().result();
		recordGrant(answer);
		boolean lostAnswer = isLost();
		this.world.record(this.process + " " + what + " -> " + answer + (lostAnswer ? " (answer lost)" : ""));
		if (!lostAnswer) {
			this.process.later(delay(), () -> call.complete(answer));
		}
	}

	/** The grant of an attempt without an answer keeps others out too. */
	private void recordGrant(Object answer) {
		if (answer instanceof AttemptResult.Granted granted) {
			this.world.recordGrant(granted.grant().key());
		}
	}

	@Override
	public String name() {
		return "simulated";
	}

	@Override
	public boolean isBlocking() {
		return false;
	}

	@Override
	public LockContender newContender(LockKey key, Runnable onNotified) {
		LockContender contender = this.local.newContender(key, () -> {
			if (!isLost()) {
				this.process.later(delay(), onNotified);
			}
		});
		return new SimulatedContender(key, contender);
	}

	@Override
	public StoreCall<Map<LockGrant, RenewalOutcome>> renew(Map<LockGrant, Duration> leases, Duration timeout) {
		leases.keySet()
			.forEach((grant) -> this.world.check(
					this.process.engines()
						.stream()
						.flatMap((engine) -> engine.context().heldGrants().all().stream())
						.anyMatch((held) -> held.grant().equals(grant) && held.isCurrent()),
					"P7", "a renewal of " + grant + " was sent after its release"));
		return call("renews " + leases.size(), () -> this.local.renew(leases, timeout));
	}

	@Override
	public StoreCall<ReleaseOutcome> release(LockKey key, OwnerId owner, Duration timeout) {
		return call("releases " + key + " of " + owner.text().substring(0, 4),
				() -> this.local.release(key, owner, timeout));
	}

	@Override
	public void check(Duration timeout) {
	}

	private final class SimulatedContender implements LockContender {

		private final LockKey key;

		private final LockContender contender;

		private boolean closed;

		private SimulatedContender(LockKey key, LockContender contender) {
			this.key = key;
			this.contender = contender;
		}

		@Override
		public StoreCall<AttemptResult> attempt(OwnerId owner, Duration lease, boolean willWait, Duration timeout) {
			SimulatedProvider.this.world.check(!this.closed, "contender", "it was closed before this attempt");
			return call("attempts " + this.key + " as " + owner.text().substring(0, 4),
					() -> this.contender.attempt(owner, lease, willWait, timeout));
		}

		@Override
		public StoreCall<ReleaseOutcome> withdraw(Duration timeout) {
			SimulatedProvider.this.world.check(!this.closed, "contender", "it was closed before its withdrawal");
			return call("withdraws from " + this.key, () -> this.contender.withdraw(timeout));
		}

		@Override
		public void close() {
			SimulatedProvider.this.world.check(!this.closed, "contender", "it was closed twice");
			this.closed = true;
		}

	}

}
