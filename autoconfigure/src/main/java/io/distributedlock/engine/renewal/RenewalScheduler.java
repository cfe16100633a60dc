package io.distributedlock.engine.renewal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.engine.concurrent.EarliestSignal;
import io.distributedlock.engine.concurrent.EngineEnvironment;
import io.distributedlock.engine.concurrent.EngineEnvironment.Work;
import io.distributedlock.engine.concurrent.Nanos;
import io.distributedlock.engine.concurrent.NodeThreads;
import io.distributedlock.engine.grant.EngineFailures;
import io.distributedlock.engine.grant.HeldGrant;
import io.distributedlock.engine.grant.HeldGrants;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.provider.LockProvider;

/**
 * The scheduler that renews all held locks of one provider in batches.
 * <p>
 * No task is scheduled per lock: one signal of the timer, at the earliest renewal of all,
 * starts a round, which looks through the held grants and begins what is due, the
 * earliest deadline first. So no renewal can remain scheduled for a lock that has ended.
 * A round waits for no batch. What is due forms lanes: one for each
 * {@linkplain LockProvider#node node} and similar length of lease, because the shortest
 * lease of a batch sets its time-out. A lane begins no batches until all of its last
 * round have ended.
 */
public final class RenewalScheduler {

	private static final Log logger = LogFactory.getLog(RenewalScheduler.class);

	private static final long FAILED_ROUND_PAUSE_NANOS = Duration.ofMillis(100).toNanos();

	private final HeldGrants heldGrants;

	private final LockProvider provider;

	private final LockSettings settings;

	private final EngineEnvironment environment;

	private final RenewalSender batches;

	private final EarliestSignal nextRound;

	/** Whether a round was requested that has not begun. */
	private final AtomicBoolean requested = new AtomicBoolean();

	/** The lanes that have a batch under way. */
	private final Set<Lane> busy = ConcurrentHashMap.newKeySet();

	/** Whether the last round failed; a row of failures is logged once. */
	private volatile boolean failing;

	private volatile boolean closed;

	public RenewalScheduler(HeldGrants heldGrants, LockProvider provider, LockSettings settings,
			EngineEnvironment environment, EngineFailures failures) {
		this.heldGrants = heldGrants;
		this.provider = provider;
		this.settings = settings;
		this.environment = environment;
		this.batches = new RenewalSender(heldGrants, provider, environment, failures, this::timeout,
				this::scheduleNext);
		this.nextRound = new EarliestSignal(environment, this::requestRound);
	}

	/** Schedules the first renewal of a grant that is not among the held ones yet. */
	public void schedule(HeldGrant heldGrant) {
		scheduleNext(heldGrant, heldGrant.renewalNanos());
	}

	/** Registers a held grant before its holder sees it. */
	public void register(HeldGrant heldGrant) {
		if (heldGrant.needsRenewal()) {
			this.nextRound.setAt(heldGrant.renewalNanos());
		}
	}

	private void requestRound() {
		if (!this.closed && this.requested.compareAndSet(false, true)) {
			try {
				this.environment.executor(Work.RENEWAL_ROUNDS).execute(this::round);
			}
			catch (RejectedExecutionException | OutOfMemoryError ex) {
				repeatRound(ex);
			}
		}
	}

	private void round() {
		// Before the look, so that a registration during it causes another one.
		this.requested.set(false);
		Throwable failure;
		try {
			failure = beginDue();
		}
		catch (RuntimeException | Error ex) {
			failure = ex;
		}
		if (failure != null) {
			repeatRound(failure);
		}
		else {
			this.failing = false;
		}
	}

	private void repeatRound(Throwable ex) {
		this.requested.set(false);
		if (!this.closed) {
			if (!this.failing) {
				this.failing = true;
				logger.error("A round of lock renewals failed and is repeated", ex);
			}
			this.nextRound.setAt(this.environment.nanoTime() + FAILED_ROUND_PAUSE_NANOS);
		}
	}

	/**
	 * Begins what is due.
	 * @return the last failure of a lane, which affects no other one, or {@code null}
	 */
	private @Nullable Throwable beginDue() {
		long now = this.environment.nanoTime();
		Map<Lane, List<HeldGrant>> due = new LinkedHashMap<>();
		boolean any = false;
		long next = now + Nanos.NEVER;
		for (HeldGrant heldGrant : this.heldGrants.all()) {
			if (!heldGrant.needsRenewal() || heldGrant.isRenewing()) {
				continue;
			}
			Lane lane = lane(heldGrant);
			if (this.busy.contains(lane)) {
				// The end of its batch causes a round.
				continue;
			}
			if (!Nanos.isPast(heldGrant.renewalNanos(), now)) {
				next = Nanos.earlier(next, heldGrant.renewalNanos());
			}
			else {
				any = true;
			}
			long early = heldGrant.isRenewalUnclear() ? 0 : period(heldGrant) / 10;
			if (heldGrant.renewalNanos() - now <= early) {
				due.computeIfAbsent(lane, (absent) -> new ArrayList<>()).add(heldGrant);
			}
		}
		// A grant that is nearly due is renewed too, but begins no batch: otherwise the
		// duration of a round would make the next ones due, in ever smaller batches.
		Throwable failure = null;
		if (any) {
			for (Map.Entry<Lane, List<HeldGrant>> lane : due.entrySet()) {
				try {
					begin(lane.getKey(), lane.getValue(), now);
				}
				catch (RuntimeException | Error ex) {
					failure = ex;
				}
			}
		}
		if (next - now < Nanos.NEVER) {
			this.nextRound.setAt(next);
		}
		return failure;
	}

	private void begin(Lane lane, List<HeldGrant> grants, long now) {
		if (grants.stream().noneMatch((heldGrant) -> Nanos.isPast(heldGrant.renewalNanos(), now))) {
			return;
		}
		List<HeldGrant> sorted = sorted(grants, now);
		this.busy.add(lane);
		try {
			this.batches.send(lane.node(), sorted, () -> ended(lane));
		}
		catch (RuntimeException | Error ex) {
			this.busy.remove(lane);
			throw ex;
		}
	}

	/** Sorts grants by deadlines of one moment, since they move. */
	private static List<HeldGrant> sorted(List<HeldGrant> grants, long now) {
		return grants.stream()
			.map((heldGrant) -> Map.entry(heldGrant.deadlineNanos() - now, heldGrant))
			.sorted(Map.Entry.comparingByKey())
			.map(Map.Entry::getValue)
			.toList();
	}

	private void ended(Lane lane) {
		this.busy.remove(lane);
		requestRound();
	}

	private Lane lane(HeldGrant heldGrant) {
		return new Lane(NodeThreads.node(this.provider, heldGrant.key()),
				Long.SIZE - Long.numberOfLeadingZeros(timeout(heldGrant).toNanos()));
	}

	private Duration timeout(HeldGrant heldGrant) {
		return this.settings.longestRenewal(heldGrant.lease());
	}

	private long period(HeldGrant heldGrant) {
		return (long) (heldGrant.lease().toNanos() * this.settings.renewalFraction());
	}

	/** Adds jitter, so that the processes of a cluster do not renew at the same time. */
	private void scheduleNext(HeldGrant heldGrant, long sentNanos) {
		long period = period(heldGrant);
		heldGrant.scheduleRenewal(sentNanos + period - (long) (period * 0.1 * this.environment.nextDouble()));
	}

	/** Returns how well the renewals keep up. */
	public RenewalStatus status() {
		long now = this.environment.nanoTime();
		long lag = 0;
		Set<Object> nodes = new HashSet<>();
		for (HeldGrant heldGrant : this.heldGrants.all()) {
			if (heldGrant.needsRenewal()) {
				lag = Math.max(lag, now - heldGrant.renewalNanos());
				nodes.add(NodeThreads.node(this.provider, heldGrant.key()));
			}
		}
		return new RenewalStatus(Duration.ofNanos(lag), this.batches.failedCalls(nodes));
	}

	public void close() {
		this.closed = true;
		this.batches.close();
	}

	/**
	 * Grants that are renewed together.
	 *
	 * @param node the node of the store that keeps them
	 * @param magnitude the number of bits of their time-out
	 */
	private record Lane(Object node, int magnitude) {
	}

}
