package io.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockException;
import io.distributedlock.LockInterruptedException;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockMode;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockRequest;
import io.distributedlock.LossReason;
import io.distributedlock.engine.concurrent.BoundedCall;
import io.distributedlock.engine.concurrent.Nanos;
import io.distributedlock.engine.grant.EngineLease;
import io.distributedlock.engine.grant.HeldGrants;
import io.distributedlock.engine.grant.Hold;
import io.distributedlock.engine.queue.CallbackRunner;
import io.distributedlock.engine.queue.KeyRequest;
import io.distributedlock.engine.queue.ParkingRunner;
import io.distributedlock.engine.queue.RequestRunner;
import io.distributedlock.engine.queue.RunningRequest;
import io.distributedlock.engine.queue.WaitMode;
import io.distributedlock.engine.release.ShareKey;
import io.distributedlock.provider.ReleaseOutcome;

/**
 * One call of a simulation: it requests one or several keys, as a thread that waits or
 * without a thread, holds them for a while and releases them. It may be interrupted or
 * cancelled meanwhile.
 */
final class SimulatedUser implements RequestRunner {

	private final EngineSimulation simulation;

	private final SimulatedProcess process;

	private final SimulatedWorld world;

	private final LockEngine engine;

	private final int number;

	private final List<LockKey> keys;

	private final LockRequest request;

	private final long startNanos;

	private @Nullable RunningRequest acquisition;

	private final boolean async;

	private final WaitMode mode;

	/** Decides what an interrupt does, as on a thread that waits. */
	private final ParkingRunner runner;

	/** Whether the thread of this user is interrupted. */
	private boolean interrupted;

	private boolean interruptedBefore;

	private boolean stepPending;

	private boolean ended;

	private @Nullable Runnable timer;

	private int losses;

	private int overtakes;

	/** For how long the store had not answered when the latest step became due. */
	private long unansweredNanos;

	private boolean queued;

	private boolean released;

	/** Whether it was seen once that the lock is not held. */
	private boolean lost;

	SimulatedUser(EngineSimulation simulation, SimulatedProcess process, int number, List<LockKey> keys) {
		this.simulation = simulation;
		this.process = process;
		this.world = process.world;
		this.engine = process.engine();
		this.number = number;
		this.keys = keys;
		this.startNanos = process.nanoTime();
		Duration wait = this.world.happens(0.25) ? Duration.ZERO
				: Duration.ofNanos(this.world.duration(Duration.ofSeconds(10)));
		LockRequest renewed = LockRequest.ofAll(keys).withWaitTime(wait);
		LockRequest plain = this.world.happens(0.15) ? renewed.withoutRenewal() : renewed;
		LockRequest own = this.world.happens(0.2) ? plain.withLease(Duration.ofMillis(500)) : plain;
		Duration lease = simulation.lease();
		LockRequest timed = (lease != null) ? plain.withLease(lease) : own;
		int permits = simulation.newPermits();
		this.request = (permits == 0) ? timed.withMinHold(simulation.newMinHold()) : timed.withPermits(permits);
		this.async = this.world.happens(0.3);
		this.mode = (this.async || this.world.happens(0.6)) ? WaitMode.LIMITED
				: WaitMode.values()[1 + this.world.choose(WaitMode.values().length - 1)];
		this.runner = new ParkingRunner(process, this.mode);
	}

	/** Returns how long the store keeps the lock at most, unless it has a minHold. */
	Duration lease() {
		Duration own = this.request.lease();
		return (own != null) ? own : this.engine.context().settings().lease();
	}

	/**
	 * Returns for how long the store had not answered the attempts for the first key when
	 * this user was told, which it may see later.
	 */
	long unansweredNanos() {
		Object first = ShareKey.of(this.keys.get(0), this.request.permits());
		return Math.max(this.unansweredNanos, this.process.unansweredNanos(first));
	}

	/** Whether only a failing store ends the wait. */
	boolean waitsForever() {
		return this.mode == WaitMode.UNLIMITED || this.mode == WaitMode.UNLIMITED_UNINTERRUPTED;
	}

	private boolean endsWithInterrupt() {
		return this.mode == WaitMode.LIMITED || this.mode == WaitMode.UNLIMITED;
	}

	Duration waitTime() {
		Duration wait = this.request.waitTime();
		return (wait != null) ? wait : Duration.ZERO;
	}

	void begin() {
		Duration minHold = this.request.minHold();
		this.world.record(this + " requests " + this.keys + " and waits " + waitTime().toMillis() + " ms, " + this.mode
				+ ((minHold != null) ? ", minHold " + minHold.toMillis() + " ms" : "")
				+ ((this.request.permits() > 0) ? ", " + this.request.mode() : ""));
		if (this.async) {
			beginAsync();
			return;
		}
		this.acquisition = this.engine.request(this.request.keys(), this.request, this);
		this.simulation.arrived(this);
		if (waitsForever()) {
			this.process.addPatience(toString(), waitTime());
		}
		if (this.world.happens((this.mode == WaitMode.LIMITED) ? 0.1 : 0.4)) {
			this.process.later(this.world.duration(Duration.ofSeconds(3)), this::interrupt);
		}
		step();
	}

	private void beginAsync() {
		this.simulation.arrived(this);
		CompletableFuture<LockLease> future = new CallbackRunner(this.engine.context(), (runner) -> {
			RunningRequest begun = this.engine.request(this.request.keys(), this.request, runner);
			this.acquisition = begun;
			return begun;
		}).begin();
		future.whenComplete((lease, failure) -> {
			if (lease != null) {
				acquired((EngineLease) lease);
			}
			else if (!future.isCancelled()) {
				failed(failure);
			}
		});
		this.queued = isQueued();
		if (this.world.happens(0.15)) {
			this.process.later(this.world.duration(Duration.ofSeconds(3)), () -> {
				if (future.cancel(false)) {
					this.world.record(this + " cancels");
					end();
				}
			});
		}
	}

	@Override
	public boolean mayBlock() {
		return true;
	}

	@Override
	public boolean waitsUnlimited() {
		return this.runner.waitsUnlimited();
	}

	@Override
	public String requester() {
		return toString();
	}

	@Override
	public void signal() {
		this.unansweredNanos = unansweredNanos();
		if (!this.stepPending && !this.ended) {
			this.stepPending = true;
			// A thread may be slow to wake up.
			Duration longest = this.world.happens(0.05) ? Duration.ofMillis(100) : Duration.ofNanos(200_000);
			this.process.later(this.world.duration(longest), this::step);
		}
	}

	private void step() {
		this.stepPending = false;
		RunningRequest current = this.acquisition;
		if (this.ended || this.async || current == null) {
			return;
		}
		if (this.timer != null) {
			this.timer.run();
		}
		try {
			switch (step(current)) {
				case ACQUIRED -> acquired(current.lease());
				case BUSY -> failed(new LockNotAcquiredException(current.key(), Duration.ZERO, current.holder()));
				case WAIT -> {
					this.queued = true;
					this.unansweredNanos = 0;
					this.timer = this.process.schedule(this::signal,
							current.waitUntilNanos() - this.process.nanoTime());
				}
			}
		}
		catch (LockException ex) {
			failed(ex);
		}
	}

	/** Makes a step of the thread of this user. */
	private RunningRequest.Progress step(RunningRequest current) {
		boolean mustEnd = this.interrupted && endsWithInterrupt();
		if (this.interrupted) {
			Thread.currentThread().interrupt();
		}
		RunningRequest.Progress progress = RunningRequest.Progress.BUSY;
		try {
			progress = this.runner.step(current);
			this.world.check(!mustEnd, "P9", this + " goes on although it was interrupted");
			return progress;
		}
		finally {
			if (progress != RunningRequest.Progress.WAIT) {
				this.runner.restoreInterrupt();
			}
			this.interrupted = Thread.interrupted();
			this.world.check(progress == RunningRequest.Progress.WAIT || this.interrupted == this.interruptedBefore,
					"P9", this + " has lost its interrupt");
		}
	}

	private void interrupt() {
		if (!this.ended) {
			this.world.record(this + " is interrupted");
			this.interrupted = true;
			this.interruptedBefore = true;
			signal();
		}
	}

	private void failed(@Nullable Throwable failure) {
		this.world.check(endsWithInterrupt() || !(failure instanceof LockInterruptedException), "P9",
				this + " has ended with an interrupt that ends no wait");
		this.world.record(this + " fails: " + ((failure != null) ? failure.getMessage() : "cancelled"));
		this.simulation.failed(this, failure, this.process.nanoTime() - this.startNanos);
		end();
	}

	private void end() {
		this.ended = true;
		this.simulation.left(this);
	}

	private void acquired(EngineLease lease) {
		this.world.record(this + " acquires " + lease);
		this.ended = true;
		if (lease.isHeld()) {
			this.world.shortestHolds().recordStart(this, lease);
		}
		else {
			lease.forgetMinHold();
		}
		long now = this.process.nanoTime();
		Hold acquired = hold(lease);
		lease.onLost(() -> {
			this.losses++;
			this.world.record(this + " is told the loss");
			if (acquired != null && !this.simulation.isDisturbed(this)) {
				// A thread that woke up late may find that its hold is lost already.
				long late = this.process.nanoTime() - Math.max(acquired.heldGrant().deadlineNanos(), now);
				this.world.check(late < Duration.ofMillis(50).toNanos(), "P8",
						this + " is told its loss " + Duration.ofNanos(late).toMillis() + " ms after the deadline");
			}
			this.lost = true;
			this.world.check(!this.simulation.isHealthy() || !this.request.renew(), "P7",
					this + " has lost its lock although nothing was wrong");
			this.world.check(this.losses == 1, "P8", this + " is told its loss " + this.losses + " times");
			this.world.check(!this.released, "P8", this + " is told a loss after its release");
		});
		this.simulation.acquired(this, lease, this.process.nanoTime() - this.startNanos);
		boolean hot = this.simulation.isHot();
		Duration usual = Duration.ofMillis(hot ? 4 : 300);
		long usage = this.world.duration(this.world.happens(hot ? 0.01 : 0.1) ? Duration.ofSeconds(12) : usual);
		this.process.later(usage, () -> release(lease));
		IntStream.range(0, 4)
			.forEach((look) -> this.process.later(this.world.duration(Duration.ofSeconds(4)), () -> look(lease)));
	}

	/** Returns the hold of whoever has acquired one key, while it is the present one. */
	static @Nullable Hold hold(EngineLease lease) {
		return (lease.keys().size() > 1) ? null
				: (Hold) lease.grants()
					.get(0)
					.holds()
					.stream()
					.filter((hold) -> hold.lease() == lease)
					.findAny()
					.orElse(null);
	}

	/** A lock that was not held once is never held again. */
	private void look(EngineLease lease) {
		boolean held = lease.isHeld();
		this.world.check(!held || !this.lost, "P8", this + " holds again what it had lost");
		this.lost |= !held;
	}

	private void release(EngineLease lease) {
		if (this.world.happens(0.1) && keep(lease)) {
			return;
		}
		this.world.record(this + " releases");
		this.simulation.released(this);
		look(lease);
		Hold hold = hold(lease);
		if (hold != null && this.request.renew()) {
			checkDeletion(hold);
		}
		HeldGrants heldGrants = this.engine.context().heldGrants();
		boolean alone = this.request.mode() == LockMode.EXCLUSIVE;
		if (hold != null && alone && this.world.happens(0.7) && hold.isHeld()) {
			if (heldGrants.handOff(hold.heldGrant(), hold.holdNumber())) {
				this.released = true;
				this.world.check(!hold.isHeld() && hold.lossReason() == null, "P3",
						this + " still holds what it handed off");
				return;
			}
			if (!hold.heldGrant().release(hold.holdNumber())) {
				throw new IllegalStateException("A lock that is held cannot be released");
			}
			this.released = true;
			releaseAndWait(hold);
			return;
		}
		boolean held = lease.isHeld();
		if (this.world.happens(0.5)) {
			lease.closeAsync().thenRun(() -> this.released = held && lease.lossReason() == null);
		}
		else {
			lease.closeInBackground();
			this.released = held && lease.lossReason() == null;
		}
		this.world.check(!lease.isHeld(), "P3", this + " still holds what it has released");
		this.world.check(held || lease.lossReason() != null, "P8", this + " lost its lock without a reason");
		if (this.world.happens(0.1)) {
			lease.closeInBackground();
		}
	}

	/** Closes a handle whose lock another handle keeps for a while. */
	private boolean keep(EngineLease lease) {
		boolean held = lease.isHeld();
		EngineLease kept = lease.keep();
		if (kept == null) {
			return false;
		}
		lease.closeInBackground();
		this.world.check(!held || kept.isHeld() || kept.lossReason() != null, "P1",
				this + " has released a lock that another handle keeps");
		this.process.later(this.world.duration(Duration.ofMillis(300)), () -> release(kept));
		return true;
	}

	/** Whoever deletes a key in the store is noticed by the next renewal. */
	private void checkDeletion(Hold hold) {
		long held = this.process.nanoTime() - hold.heldGrant().grantedNanos() - Duration.ofMillis(50).toNanos();
		long renewal = hold.heldGrant().lease().toNanos() / 3 + Duration.ofMillis(200).toNanos();
		this.world.check(
				!hold.isHeld()
						|| !this.simulation.wasDeleted(hold.key(), this.world.now() - held, this.world.now() - renewal),
				"P8", this + " holds a lock that was deleted in the store, and its renewals did not notice");
	}

	/** Releases as a thread that waits for the answer. */
	private void releaseAndWait(Hold hold) {
		HeldGrants heldGrants = this.engine.context().heldGrants();
		long deadline = hold.heldGrant().deadlineNanos();
		long timeout = this.engine.context().settings().callTimeout().toNanos();
		long until = this.process.nanoTime() + timeout;
		BoundedCall.begin(() -> heldGrants.startRelease(hold.heldGrant(), until), this.process,
				Duration.ofNanos(timeout), (answer, failure) -> {
					ReleaseOutcome outcome = (answer != null) ? answer : ReleaseOutcome.UNKNOWN;
					this.released = outcome != ReleaseOutcome.NOT_HELD;
					boolean late = Nanos.isPast(deadline, this.process.nanoTime());
					heldGrants.endRelease(hold.heldGrant(), deadline, outcome);
					this.world.check(this.released || late || hold.lossReason() == LossReason.NOT_HELD, "P8",
							this + " has released a lock that the store did not keep, and is told no loss");
				});
	}

	boolean startedAfter(SimulatedUser other) {
		return this.number > other.number;
	}

	/**
	 * Records that a request that arrived later got the lock while this one was the head.
	 */
	void recordOvertake() {
		this.overtakes++;
	}

	/** Returns how often this one was overtaken while it was the head. */
	int overtakes() {
		return this.overtakes;
	}

	/** Whether the request has waited in the queue. */
	boolean wasQueued() {
		return this.queued;
	}

	/** Whether the request is in the queue of its one key. */
	boolean isQueued() {
		return this.acquisition instanceof KeyRequest single && single.queued && !single.isComplete();
	}

	SimulatedProcess process() {
		return this.process;
	}

	LockEngine engine() {
		return this.engine;
	}

	List<LockKey> keys() {
		return this.keys;
	}

	LockRequest request() {
		return this.request;
	}

	int losses() {
		return this.losses;
	}

	@Override
	public String toString() {
		return this.process + ".u" + this.number;
	}

}
