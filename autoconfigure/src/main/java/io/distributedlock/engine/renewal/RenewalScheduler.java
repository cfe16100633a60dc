package io.distributedlock.engine.renewal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.LossReason;
import io.distributedlock.engine.concurrent.BoundedCall;
import io.distributedlock.engine.concurrent.EngineEnvironment;
import io.distributedlock.engine.concurrent.EngineEnvironment.Work;
import io.distributedlock.engine.concurrent.Nanos;
import io.distributedlock.engine.concurrent.NodeThreads;
import io.distributedlock.engine.grant.EngineFailures;
import io.distributedlock.engine.grant.HeldGrant;
import io.distributedlock.engine.grant.HeldGrants;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.provider.AnsweredStoreCall;
import io.distributedlock.provider.DeadlineTimer;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.provider.StoreCall;

/**
 * The scheduler that renews all held locks of one provider in batches.
 * <p>
 * No task is scheduled per lock: one signal of the timer, at the earliest renewal of all,
 * starts a round, which looks through the held grants and begins what is due, the
 * earliest deadline first. So no renewal can remain scheduled for a lock that has ended.
 * A round waits for no batch. What is due forms groups: one for each
 * {@linkplain LockProvider#node node} and similar length of lease, because the shortest
 * lease of a group sets its time-out. A group begins no batches until all of its last
 * round have ended.
 * <p>
 * A batch that fails is split, so that one lock does not fail the others. A grant is in
 * one batch at most, which claims it as it is sent.
 */
public final class RenewalScheduler {

	private static final Log logger = LogFactory.getLog(RenewalScheduler.class);

	private static final long FAILED_ROUND_PAUSE_NANOS = Duration.ofMillis(100).toNanos();

	private static final long SOONEST_RETRY_NANOS = Duration.ofMillis(5).toNanos();

	/**
	 * How many batches of one group may fail before they are no longer split, so that a
	 * dead store does not receive a call for each lock.
	 */
	private static final int MAX_FAILURES = 32;

	private final HeldGrants heldGrants;

	private final LockProvider provider;

	private final LockSettings settings;

	private final EngineEnvironment environment;

	private final EngineFailures failures;

	private final NodeThreads threads;

	private final DeadlineTimer nextRound;

	/** Whether a round was requested that has not begun. */
	private final AtomicBoolean requested = new AtomicBoolean();

	/** The groups that have a batch under way. */
	private final Set<Group> busy = ConcurrentHashMap.newKeySet();

	/** How many calls to a node have failed since the last one that it answered. */
	private final ConcurrentMap<Object, Integer> failedCalls = new ConcurrentHashMap<>();

	/** Whether the last round failed; a row of failures is logged once. */
	private volatile boolean failing;

	private volatile boolean closed;

	public RenewalScheduler(HeldGrants heldGrants, LockProvider provider, LockSettings settings,
			EngineEnvironment environment, EngineFailures failures) {
		this.heldGrants = heldGrants;
		this.provider = provider;
		this.settings = settings;
		this.environment = environment;
		this.failures = failures;
		this.threads = new NodeThreads(environment, Work.RENEWALS);
		this.nextRound = new DeadlineTimer(environment::nanoTime, environment::schedule, this::requestRound);
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
		try {
			if (beginDue()) {
				this.failing = false;
			}
		}
		catch (RuntimeException | Error ex) {
			repeatRound(ex);
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
	 * @return whether no group has failed, which affects no other one
	 */
	private boolean beginDue() {
		long now = this.environment.nanoTime();
		Map<Group, List<HeldGrant>> due = new LinkedHashMap<>();
		long next = now + Nanos.NEVER;
		for (HeldGrant heldGrant : this.heldGrants.all()) {
			if (!heldGrant.needsRenewal() || heldGrant.isRenewing()) {
				continue;
			}
			Group group = group(heldGrant);
			if (this.busy.contains(group)) {
				// The end of its batch causes a round.
				continue;
			}
			if (!Nanos.isPast(heldGrant.renewalNanos(), now)) {
				next = Nanos.earlier(next, heldGrant.renewalNanos());
			}
			long early = heldGrant.isRenewalUnclear() ? 0 : period(heldGrant) / 10;
			if (heldGrant.renewalNanos() - now <= early) {
				due.computeIfAbsent(group, (absent) -> new ArrayList<>()).add(heldGrant);
			}
		}
		boolean begun = true;
		for (Map.Entry<Group, List<HeldGrant>> group : due.entrySet()) {
			begun &= begin(group.getKey(), group.getValue(), now);
		}
		if (next - now < Nanos.NEVER) {
			this.nextRound.setAt(next);
		}
		return begun;
	}

	private boolean begin(Group group, List<HeldGrant> grants, long now) {
		// A grant that is nearly due is renewed too, but begins no batch: otherwise the
		// duration of a round would make the next ones due, in ever smaller batches.
		if (grants.stream().noneMatch((heldGrant) -> Nanos.isPast(heldGrant.renewalNanos(), now))) {
			return true;
		}
		try {
			GroupRenewal renewal = new GroupRenewal(group, sorted(grants, now));
			this.busy.add(group);
			renewal.begin();
			return true;
		}
		catch (RuntimeException | Error ex) {
			this.busy.remove(group);
			repeatRound(ex);
			return false;
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

	private Group group(HeldGrant heldGrant) {
		return new Group(NodeThreads.node(this.provider, heldGrant.key()),
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

	/** Schedules another renewal, sooner the less time remains. */
	private static void retry(HeldGrant heldGrant, long nowNanos) {
		long remaining = Math.max(0, heldGrant.deadlineNanos() - nowNanos);
		long longest = heldGrant.lease().toNanos() / 6;
		heldGrant.scheduleRenewal(nowNanos + Math.max(SOONEST_RETRY_NANOS, Math.min(longest, remaining / 5)));
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
		// Nodes that keep nothing to renew are forgotten.
		this.failedCalls.keySet().retainAll(nodes);
		return new RenewalStatus(Duration.ofNanos(lag),
				this.failedCalls.values().stream().mapToInt(Integer::intValue).sum());
	}

	public void close() {
		this.closed = true;
	}

	/**
	 * Grants that are renewed together.
	 *
	 * @param node the node of the store that keeps them
	 * @param magnitude the number of bits of their time-out
	 */
	private record Group(Object node, int magnitude) {
	}

	/**
	 * The renewal of one group in one round, in batches of the size that the provider
	 * states.
	 */
	private final class GroupRenewal {

		private static final Duration SHORTEST_TIMEOUT = Duration.ofMillis(100);

		private final Group group;

		private final Duration timeout;

		private final Iterator<List<HeldGrant>> batches;

		/** The batches that have not ended, and one for those that were not sent. */
		private final AtomicInteger underWay = new AtomicInteger(1);

		private final AtomicInteger failedBatches = new AtomicInteger();

		/** How many batches in a row the store did not answer in time. */
		private final AtomicInteger timeouts = new AtomicInteger();

		/**
		 * Creates the renewal of a group.
		 * @param due the grants in order of their deadlines
		 */
		private GroupRenewal(Group group, List<HeldGrant> due) {
			this.group = group;
			this.timeout = due.stream()
				.map(RenewalScheduler.this::timeout)
				.min(Duration::compareTo)
				.orElse(Duration.ZERO);
			this.batches = batches(due).iterator();
		}

		/**
		 * Divides grants into batches. Those without an answer to their last renewal go
		 * in small ones: one of them may be what the store does not answer.
		 */
		private List<List<HeldGrant>> batches(List<HeldGrant> due) {
			int size = Math.max(1, RenewalScheduler.this.provider.renewalBatchSize());
			Map<Boolean, List<HeldGrant>> unclear = due.stream()
				.collect(Collectors.partitioningBy(HeldGrant::isRenewalUnclear));
			List<List<HeldGrant>> divided = new ArrayList<>();
			add(divided, unclear.getOrDefault(false, List.of()), size);
			List<HeldGrant> repeated = unclear.getOrDefault(true, List.of());
			add(divided, repeated, Math.min(size, repeated.size() / MAX_FAILURES + 1));
			return divided;
		}

		private static void add(List<List<HeldGrant>> batches, List<HeldGrant> grants, int size) {
			for (int from = 0; from < grants.size(); from += size) {
				batches.add(grants.subList(from, Math.min(from + size, grants.size())));
			}
		}

		private void begin() {
			if (RenewalScheduler.this.provider.isBlocking()) {
				sendNext();
				return;
			}
			while (this.batches.hasNext()) {
				this.underWay.incrementAndGet();
				send(this.batches.next());
			}
			end();
		}

		/**
		 * Sends a batch on a thread. Over a blocking client the batches follow each
		 * other, so that the group leaves a thread of its node to others.
		 */
		private void sendNext() {
			if (!this.batches.hasNext()) {
				end();
				return;
			}
			List<HeldGrant> batch = this.batches.next();
			this.underWay.incrementAndGet();
			RenewalScheduler.this.threads.execute(this.group.node(), () -> {
				try {
					send(batch);
				}
				finally {
					sendNext();
				}
			}, (ex) -> {
				logger.debug("There is no thread to renew locks", ex);
				long now = RenewalScheduler.this.environment.nanoTime();
				batch.forEach((heldGrant) -> retry(heldGrant, now));
				try {
					end();
				}
				finally {
					sendNext();
				}
			});
		}

		/**
		 * Sends a batch. Whatever fails, it ends, and what it has claimed is due again.
		 */
		private void send(List<HeldGrant> batch) {
			List<HeldGrant> claimed = new ArrayList<>(batch.size());
			long sentNanos = RenewalScheduler.this.environment.nanoTime();
			Duration most = atMost();
			BoundedCall.begin(() -> renew(batch, claimed, sentNanos, most), RenewalScheduler.this.environment, most,
					(outcomes, failure) -> {
						if (outcomes != null) {
							answered(claimed, outcomes, sentNanos);
						}
						else {
							failed(claimed,
									(failure != null) ? failure : RenewalScheduler.this.failures.renewalTimedOut(),
									sentNanos);
						}
					});
		}

		private StoreCall<Map<LockGrant, RenewalOutcome>> renew(List<HeldGrant> batch, List<HeldGrant> claimed,
				long sentNanos, Duration most) {
			// In the order of the deadlines.
			Map<LockGrant, Duration> leases = new LinkedHashMap<>(batch.size() * 2);
			for (HeldGrant heldGrant : batch) {
				if (!RenewalScheduler.this.closed && heldGrant.beginRenewal()) {
					claimed.add(heldGrant);
					leases.put(heldGrant.grant(), heldGrant.renewalLease(sentNanos));
				}
			}
			return leases.isEmpty() ? AnsweredStoreCall.of(Map.of())
					: RenewalScheduler.this.provider.renew(leases, most);
		}

		/**
		 * Returns how long the next batch may take: less after each that was not
		 * answered, so that those of a dead store do not hold up each other for many
		 * time-outs.
		 */
		private Duration atMost() {
			if (this.timeout.compareTo(SHORTEST_TIMEOUT) <= 0) {
				return this.timeout;
			}
			Duration less = this.timeout.dividedBy(1L << Math.min(this.timeouts.get(), 4));
			return (less.compareTo(SHORTEST_TIMEOUT) > 0) ? less : SHORTEST_TIMEOUT;
		}

		private void failed(List<HeldGrant> claimed, Throwable ex, long sentNanos) {
			if (RenewalScheduler.this.failedCalls.merge(this.group.node(), 1, Integer::sum) == 1) {
				logger.warn("Store '" + RenewalScheduler.this.provider.name() + "' failed to renew " + claimed.size()
						+ " lock(s); the renewal is repeated within the lease", ex);
			}
			boolean timedOut = ex instanceof LockProviderException known && known.error() == LockError.STORE_TIMEOUT;
			if (timedOut) {
				this.timeouts.incrementAndGet();
			}
			if (claimed.size() <= 1 || timedOut || this.failedBatches.incrementAndGet() >= MAX_FAILURES) {
				record(claimed, Map.of(), sentNanos);
				return;
			}
			claimed.forEach(HeldGrant::endRenewal);
			this.underWay.incrementAndGet();
			send(claimed.subList(0, claimed.size() / 2));
			send(claimed.subList(claimed.size() / 2, claimed.size()));
		}

		private void answered(List<HeldGrant> claimed, Map<LockGrant, RenewalOutcome> outcomes, long sentNanos) {
			if (!claimed.isEmpty()) {
				RenewalScheduler.this.failedCalls.remove(this.group.node());
				this.timeouts.set(0);
			}
			record(claimed, outcomes, sentNanos);
		}

		private void record(List<HeldGrant> claimed, Map<LockGrant, RenewalOutcome> outcomes, long sentNanos) {
			long now = RenewalScheduler.this.environment.nanoTime();
			for (HeldGrant heldGrant : claimed) {
				try {
					record(heldGrant, outcomes.getOrDefault(heldGrant.grant(), RenewalOutcome.UNKNOWN), sentNanos, now);
				}
				catch (RuntimeException | Error ex) {
					logger.error("The renewal of lock '" + heldGrant.grant().key() + "' could not be recorded", ex);
					retry(heldGrant, now);
					heldGrant.endRenewal();
				}
			}
			end();
		}

		private void record(HeldGrant heldGrant, RenewalOutcome outcome, long sentNanos, long nowNanos) {
			HeldGrants heldGrants = RenewalScheduler.this.heldGrants;
			heldGrants.events().renewed(heldGrant.grant().key(), outcome);
			switch (outcome) {
				case RENEWED -> {
					scheduleNext(heldGrant, sentNanos);
					int holdNumber = heldGrant.holdNumber();
					if (!heldGrant.renewed(sentNanos, nowNanos)) {
						heldGrants.renewedTooLate(heldGrant, holdNumber);
					}
				}
				case NOT_HELD -> {
					heldGrant.endRenewal();
					heldGrants.lose(heldGrant, LossReason.NOT_HELD);
				}
				case UNKNOWN -> {
					retry(heldGrant, nowNanos);
					heldGrant.endRenewal();
				}
			}
		}

		/** Ends a batch; the last one causes a round. */
		private void end() {
			if (this.underWay.decrementAndGet() == 0) {
				RenewalScheduler.this.busy.remove(this.group);
				requestRound();
			}
		}

	}

}
