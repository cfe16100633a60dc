package io.distributedlock.engine;

import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockMode;
import io.distributedlock.LockProviderException;
import io.distributedlock.engine.release.ShareKey;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.local.LocalStore;
import io.distributedlock.provider.AnsweredStoreCall;
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

	/** How long a lock may be free although processes wait: less than they poll. */
	private static final Duration LONGEST_IDLE = Duration.ofMillis(600);

	/** A little more than a thread may be late. */
	private static final Duration LATEST_WAKE_UP = Duration.ofMillis(110);

	/** More shares than can stand before a request for the whole key in its queue. */
	private static final int MOST_SHARES_BEFORE = 20;

	private static final Duration NOT_ASKED_PAUSE = Duration.ofMillis(100);

	private static final Duration LONGEST_DELAY = Duration.ofMillis(2500);

	private final SimulatedProcess process;

	private final SimulatedWorld world;

	private final LocalLockProvider local;

	private final double faults;

	/** Whether clients repeat commands, and so attempts that were released since. */
	private final boolean repeats;

	private int openContenders;

	/** Whose wait queues have an entry of this process. */
	private final Set<Object> enqueued = new HashSet<>();

	/** Until when the store answers nothing. */
	private long silentUntil;

	SimulatedProvider(SimulatedProcess process, LocalStore store, double faults, boolean repeats) {
		this.process = process;
		this.world = process.world;
		this.local = new LocalLockProvider(store);
		this.faults = faults;
		this.repeats = repeats;
	}

	/** Lets no message through for a while. */
	void cut(Duration duration) {
		this.world.record(this.process + " is cut off for " + duration.toMillis() + " ms");
		this.silentUntil = this.world.now() + duration.toNanos();
	}

	int openContenders() {
		return this.openContenders;
	}

	Set<Object> enqueued() {
		return this.enqueued;
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

	private <T> CompletableStoreCall<T> call(String what, Supplier<StoreCall<T>> command) {
		return call(what, command, () -> {
		});
	}

	private <T> CompletableStoreCall<T> call(String what, Supplier<StoreCall<T>> command, Runnable onAnswer) {
		CompletableStoreCall<T> call = new CompletableStoreCall<>();
		if (this.world.happens(0.02 * this.faults)) {
			this.process.later(delay(), () -> call.fail(
					LockProviderException.nothingSent(LockError.STORE_FAILED, name(), "refused the connection", null)));
			return call;
		}
		boolean lostRequest = isLost();
		if (lostRequest) {
			reset(call);
		}
		boolean repeated = this.repeats && this.world.happens(0.01 * this.faults);
		if (!lostRequest) {
			this.world.after(delay(), () -> execute(what, command, call, onAnswer));
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

	private <T> void execute(String what, Supplier<StoreCall<T>> command, CompletableStoreCall<T> call,
			Runnable onAnswer) {
		T answer = command.get().result();
		recordGrant(answer);
		boolean lostAnswer = isLost();
		this.world.record(this.process + " " + what + " -> " + answer + (lostAnswer ? " (answer lost)" : ""));
		if (lostAnswer) {
			reset(call);
		}
		else {
			this.process.later(delay(), () -> {
				if (call.complete(answer)) {
					onAnswer.run();
				}
			});
		}
	}

	/**
	 * The client may notice that its connection is gone, but not what the store has done.
	 */
	private void reset(CompletableStoreCall<?> call) {
		if (this.world.happens(0.3)) {
			this.process.later(delay(), () -> call
				.fail(new LockProviderException(LockError.STORE_FAILED, name(), "lost the connection", null)));
		}
	}

	/** The grant of an attempt without an answer keeps others out too. */
	private void recordGrant(Object answer) {
		if (answer instanceof AttemptResult.Granted granted) {
			this.world.shortestHolds().recordGrant(granted.grant());
			if (granted.grant().owner().isShare()) {
				this.world.check(this.world.recordShare(granted.grant().key()) <= MOST_SHARES_BEFORE || this.faults > 0,
						"P16", "a process that waits for " + granted.grant().key() + " is starved by shares");
			}
			Long free = this.world.recordGrant(granted.grant().key());
			this.world.check(this.faults > 0 || free == null || free < LONGEST_IDLE.toNanos(), "P16",
					granted.grant().key() + " was free although processes waited for it");
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
		return new SimulatedContender(key, 0, this.local.newContender(key, notified(onNotified)));
	}

	@Override
	public boolean supports(LockMode mode) {
		return true;
	}

	@Override
	public LockContender newShareContender(LockKey key, int limit, Runnable onNotified) {
		return new SimulatedContender(key, limit, this.local.newShareContender(key, limit, notified(onNotified)));
	}

	private Runnable notified(Runnable onNotified) {
		return () -> {
			if (!isLost()) {
				this.process.later(delay(), onNotified);
			}
		};
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
		return call("renews " + leases.size(), () -> {
			StoreCall<Map<LockGrant, RenewalOutcome>> done = this.local.renew(leases, timeout);
			done.result().forEach((grant, outcome) -> {
				if (outcome == RenewalOutcome.RENEWED) {
					this.world.shortestHolds().recordRenewal(grant, leases.get(grant));
				}
			});
			return done;
		});
	}

	@Override
	public boolean supportsMinHold() {
		return true;
	}

	@Override
	public StoreCall<ReleaseOutcome> release(LockKey key, OwnerId owner, Duration keepFor, Duration timeout) {
		this.world.shortestHolds().checkRelease(key, owner, keepFor);
		String kept = keepFor.isZero() ? "" : ", kept for " + keepFor.toMillis() + " ms";
		return call("releases " + key + " of " + owner.text().substring(0, 4) + kept, () -> {
			StoreCall<ReleaseOutcome> done = this.local.release(key, owner, keepFor, timeout);
			if (done.result() == ReleaseOutcome.RELEASED) {
				if (!keepFor.isZero() || this.local.findAll(key, timeout).isEmpty()) {
					this.world.recordRelease(key, keepFor);
				}
				this.world.shortestHolds().recordRelease(key, owner, keepFor);
			}
			return done;
		});
	}

	@Override
	public void check(Duration timeout) {
	}

	private final class SimulatedContender implements LockContender {

		private final LockKey key;

		private final int limit;

		private final Object shareKey;

		private final LockContender contender;

		private boolean closed;

		private @Nullable CompletableStoreCall<AttemptResult> latest;

		/** The name of the head for which the latest attempt was sent, and when. */
		private @Nullable String latestHead;

		private long latestSentNanos;

		/** When the first attempt since the last answer was sent. */
		private long unansweredSinceNanos;

		private SimulatedContender(LockKey key, int limit, LockContender contender) {
			this.key = key;
			this.limit = limit;
			this.shareKey = ShareKey.of(key, limit);
			this.contender = contender;
			SimulatedProvider.this.openContenders++;
		}

		@Override
		public StoreCall<AttemptResult> attempt(OwnerId owner, Duration lease, boolean willWait, Duration timeout) {
			SimulatedProvider.this.world.check(!this.closed, "contender", "it was closed before this attempt");
			SimulatedProvider.this.world.check(!isUnderWay(), "contender", "two attempts are under way");
			SimulatedProvider.this.world.check(this.limit > 0 || !SimulatedProvider.this.process.hasGrant(this.key),
					"contender", "its process attempts what it has");
			SimulatedProvider.this.world.check(owner.isShare() == this.limit > 0, "contender",
					"the owner id says something else");
			checkPatience();
			if (willWait && this.latest == null && SimulatedProvider.this.world.happens(0.1)) {
				// As a provider does that knows of an earlier answer.
				return AnsweredStoreCall.of(new AttemptResult.Busy(NOT_ASKED_PAUSE, null, false));
			}
			SimulatedProcess own = SimulatedProvider.this.process;
			CompletableStoreCall<AttemptResult> call = call(
					"attempts " + this.key + " as " + owner.text().substring(0, 4),
					() -> recordEntry(this.contender.attempt(owner, lease, willWait, timeout), willWait),
					() -> own.recordAnswer(this.shareKey));
			this.latest = call;
			return call;
		}

		/** A wait without a limit ends with a store that has failed for its wait time. */
		private void checkPatience() {
			SimulatedProcess own = SimulatedProvider.this.process;
			long now = own.nanoTime();
			if (isAnswered()) {
				this.unansweredSinceNanos = now;
			}
			String head = own.head(this.key, LockMode.ofPermits(this.limit));
			Duration patience = (head != null && head.equals(this.latestHead)) ? own.patience(head) : null;
			long failing = this.latestSentNanos - this.unansweredSinceNanos;
			Duration firstFailure = own.engine().context().settings().callTimeout().plus(LATEST_WAKE_UP);
			SimulatedProvider.this.world.check(
					patience == null || own.disturbances() > 0 || failing <= patience.plus(firstFailure).toNanos(),
					"P9", head + " attempts again although the store has failed for "
							+ Duration.ofNanos(failing).toMillis() + " ms");
			this.latestHead = head;
			this.latestSentNanos = now;
		}

		private boolean isAnswered() {
			if (this.latest == null) {
				return true;
			}
			if (!this.latest.isDone()) {
				return false;
			}
			try {
				this.latest.result();
				return true;
			}
			catch (LockProviderException ex) {
				return false;
			}
		}

		private boolean isUnderWay() {
			return this.latest != null && !this.latest.isDone() && !this.latest.isAbandoned();
		}

		private StoreCall<AttemptResult> recordEntry(StoreCall<AttemptResult> call, boolean willWait) {
			if (call.result() instanceof AttemptResult.Granted) {
				dequeue();
			}
			else if (willWait) {
				if (this.limit == 0) {
					SimulatedProvider.this.world.recordWriter(this.key, SimulatedProvider.this.process);
				}
				if (SimulatedProvider.this.enqueued.add(this.shareKey)) {
					SimulatedProvider.this.world.recordWaiting(this.key, 1);
				}
			}
			return call;
		}

		@Override
		public StoreCall<ReleaseOutcome> withdraw(Duration timeout) {
			SimulatedProvider.this.world.check(!this.closed, "contender", "it was closed before its withdrawal");
			return call("withdraws from " + this.key, () -> {
				dequeue();
				SimulatedProvider.this.world.recordWithdrawal(this.key);
				return this.contender.withdraw(timeout);
			});
		}

		private void dequeue() {
			if (this.limit == 0) {
				SimulatedProvider.this.world.forgetWriter(this.key, SimulatedProvider.this.process);
			}
			if (SimulatedProvider.this.enqueued.remove(this.shareKey)) {
				SimulatedProvider.this.world.recordWaiting(this.key, -1);
			}
		}

		@Override
		public void close() {
			SimulatedProvider.this.world.check(!this.closed, "contender", "it was closed twice");
			SimulatedProvider.this.world.after(0, () -> SimulatedProvider.this.world.check(!isUnderWay(), "contender",
					"it was closed during an attempt"));
			this.closed = true;
			SimulatedProvider.this.openContenders--;
		}

	}

}
