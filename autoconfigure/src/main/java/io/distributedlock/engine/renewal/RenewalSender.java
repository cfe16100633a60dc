package io.distributedlock.engine.renewal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.ObjLongConsumer;
import java.util.stream.Collectors;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.LossReason;
import io.distributedlock.engine.concurrent.BoundedCall;
import io.distributedlock.engine.concurrent.EngineEnvironment;
import io.distributedlock.engine.concurrent.EngineEnvironment.Work;
import io.distributedlock.engine.concurrent.NodeThreads;
import io.distributedlock.engine.grant.EngineFailures;
import io.distributedlock.engine.grant.HeldGrant;
import io.distributedlock.engine.grant.HeldGrants;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.RenewalOutcome;

/**
 * The renewals that are under way, in batches of the size that the provider states. A
 * batch that fails is split, so that one lock does not fail the others. A grant is in one
 * batch at most, which claims it as it is sent.
 */
public final class RenewalSender {

	private static final Log logger = LogFactory.getLog(RenewalSender.class);

	/**
	 * How many batches of one lane may fail before they are no longer split, so that a
	 * dead store does not receive a call for each lock.
	 */
	private static final int MAX_FAILURES = 32;

	private static final long SOONEST_RETRY_NANOS = Duration.ofMillis(5).toNanos();

	private final HeldGrants heldGrants;

	private final LockProvider provider;

	private final EngineEnvironment environment;

	private final EngineFailures failures;

	private final NodeThreads threads;

	private final Function<HeldGrant, Duration> timeout;

	private final ObjLongConsumer<HeldGrant> scheduleNext;

	/** How many calls to a node have failed since the last one that it answered. */
	private final ConcurrentMap<Object, Integer> failedCalls = new ConcurrentHashMap<>();

	private volatile boolean closed;

	/**
	 * Creates the batches.
	 * @param timeout how long a renewal of a grant may take
	 * @param scheduleNext schedules the renewal after one that was sent at an instant
	 */
	public RenewalSender(HeldGrants heldGrants, LockProvider provider, EngineEnvironment environment,
			EngineFailures failures, Function<HeldGrant, Duration> timeout, ObjLongConsumer<HeldGrant> scheduleNext) {
		this.heldGrants = heldGrants;
		this.failures = failures;
		this.threads = new NodeThreads(environment, Work.RENEWALS);
		this.provider = provider;
		this.environment = environment;
		this.timeout = timeout;
		this.scheduleNext = scheduleNext;
	}

	/**
	 * Renews the grants of one lane. Over a blocking client its batches follow each
	 * other, so that the lane leaves a thread for others.
	 * @param node the node of the store that keeps them
	 * @param due the grants in order of their deadlines
	 * @param onEnd runs when all of them have an outcome
	 */
	public void send(Object node, List<HeldGrant> due, Runnable onEnd) {
		Lane lane = new Lane(node, onEnd);
		Iterator<List<HeldGrant>> batches = batches(due).iterator();
		if (this.provider.isBlocking()) {
			sendNext(lane, batches);
			return;
		}
		while (batches.hasNext()) {
			lane.begin();
			send(lane, batches.next());
		}
		lane.end();
	}

	/**
	 * Divides grants into batches. Those without an answer to their last renewal go in
	 * small ones: one of them may be what the store does not answer.
	 */
	private List<List<HeldGrant>> batches(List<HeldGrant> due) {
		int size = Math.max(1, this.provider.renewalBatchSize());
		List<List<HeldGrant>> batches = new ArrayList<>();
		Map<Boolean, List<HeldGrant>> unclear = due.stream()
			.collect(Collectors.partitioningBy(HeldGrant::isRenewalUnclear));
		add(batches, unclear.getOrDefault(false, List.of()), size);
		List<HeldGrant> repeated = unclear.getOrDefault(true, List.of());
		add(batches, repeated, Math.min(size, repeated.size() / MAX_FAILURES + 1));
		return batches;
	}

	private static void add(List<List<HeldGrant>> batches, List<HeldGrant> grants, int size) {
		for (int from = 0; from < grants.size(); from += size) {
			batches.add(grants.subList(from, Math.min(from + size, grants.size())));
		}
	}

	/**
	 * Sends a batch on a thread of its own, which leaves it to other lanes after that.
	 */
	private void sendNext(Lane lane, Iterator<List<HeldGrant>> batches) {
		if (!batches.hasNext()) {
			lane.end();
			return;
		}
		List<HeldGrant> batch = batches.next();
		lane.begin();
		this.threads.execute(lane.node, () -> {
			try {
				send(lane, batch);
			}
			finally {
				sendNext(lane, batches);
			}
		}, (ex) -> {
			logger.debug("There is no thread to renew locks", ex);
			long now = this.environment.nanoTime();
			batch.forEach((heldGrant) -> retry(heldGrant, now));
			try {
				lane.end();
			}
			finally {
				sendNext(lane, batches);
			}
		});
	}

	/** Sends a batch. Whatever fails, it ends, and what it has claimed is due again. */
	private void send(Lane lane, List<HeldGrant> batch) {
		List<HeldGrant> claimed = new ArrayList<>(batch.size());
		long sentNanos = this.environment.nanoTime();
		try {
			// In the order of the deadlines.
			Map<LockGrant, Duration> leases = new LinkedHashMap<>(batch.size() * 2);
			for (HeldGrant heldGrant : batch) {
				if (!this.closed && heldGrant.beginRenewal()) {
					claimed.add(heldGrant);
					leases.put(heldGrant.grant(), heldGrant.renewalLease(sentNanos));
				}
			}
			if (claimed.isEmpty()) {
				lane.end();
				return;
			}
			Duration most = lane.atMost(claimed.stream().map(this.timeout).min(Duration::compareTo).orElseThrow());
			BoundedCall.begin(() -> this.provider.renew(leases, most), this.environment, most,
					(outcomes, failure) -> ended(lane, claimed, outcomes, failure, sentNanos));
		}
		catch (RuntimeException | Error ex) {
			failed(lane, claimed, ex, sentNanos);
		}
	}

	private void ended(Lane lane, List<HeldGrant> claimed, @Nullable Map<LockGrant, RenewalOutcome> outcomes,
			@Nullable Throwable failure, long sentNanos) {
		if (outcomes == null) {
			failed(lane, claimed, (failure != null) ? failure : this.failures.renewalTimedOut(), sentNanos);
			return;
		}
		this.failedCalls.remove(lane.node);
		lane.timeouts.set(0);
		answered(lane, claimed, outcomes, sentNanos);
	}

	private void failed(Lane lane, List<HeldGrant> claimed, Throwable ex, long sentNanos) {
		if (this.failedCalls.merge(lane.node, 1, Integer::sum) == 1) {
			logger.warn("Store '" + this.provider.name() + "' failed to renew " + claimed.size()
					+ " lock(s); the renewal is repeated within the lease", ex);
		}
		boolean timeout = isTimeout(ex);
		if (timeout) {
			lane.timeouts.incrementAndGet();
		}
		if (claimed.size() <= 1 || timeout || lane.failures.incrementAndGet() >= MAX_FAILURES) {
			answered(lane, claimed, Map.of(), sentNanos);
			return;
		}
		claimed.forEach(HeldGrant::endRenewal);
		lane.begin();
		send(lane, claimed.subList(0, claimed.size() / 2));
		send(lane, claimed.subList(claimed.size() / 2, claimed.size()));
	}

	private static boolean isTimeout(Throwable ex) {
		return ex instanceof LockProviderException failure && failure.error() == LockError.STORE_TIMEOUT;
	}

	private void answered(Lane lane, List<HeldGrant> claimed, Map<LockGrant, RenewalOutcome> outcomes, long sentNanos) {
		long now = this.environment.nanoTime();
		for (HeldGrant heldGrant : claimed) {
			try {
				answered(heldGrant, outcomes.getOrDefault(heldGrant.grant(), RenewalOutcome.UNKNOWN), sentNanos, now);
			}
			catch (RuntimeException | Error ex) {
				logger.error("The renewal of lock '" + heldGrant.grant().key() + "' could not be recorded", ex);
				retry(heldGrant, now);
				heldGrant.endRenewal();
			}
		}
		lane.end();
	}

	private void answered(HeldGrant heldGrant, RenewalOutcome outcome, long sentNanos, long nowNanos) {
		this.heldGrants.events().renewed(heldGrant.grant().key(), outcome);
		switch (outcome) {
			case RENEWED -> {
				this.scheduleNext.accept(heldGrant, sentNanos);
				int holdNumber = heldGrant.holdNumber();
				if (!heldGrant.renewed(sentNanos, nowNanos)) {
					this.heldGrants.renewedTooLate(heldGrant, holdNumber);
				}
			}
			case NOT_HELD -> {
				heldGrant.endRenewal();
				this.heldGrants.lose(heldGrant, LossReason.NOT_HELD);
			}
			case UNKNOWN -> {
				retry(heldGrant, nowNanos);
				heldGrant.endRenewal();
			}
		}
	}

	/** Schedules another renewal, sooner the less time remains. */
	private void retry(HeldGrant heldGrant, long nowNanos) {
		long remaining = Math.max(0, heldGrant.deadlineNanos() - nowNanos);
		long longest = heldGrant.lease().toNanos() / 6;
		heldGrant.scheduleRenewal(nowNanos + Math.max(SOONEST_RETRY_NANOS, Math.min(longest, remaining / 5)));
	}

	/**
	 * Returns how many calls have failed since the last answer of the same node.
	 * @param nodes the nodes that keep something to renew; others are forgotten
	 */
	int failedCalls(Set<Object> nodes) {
		this.failedCalls.keySet().retainAll(nodes);
		return this.failedCalls.values().stream().mapToInt(Integer::intValue).sum();
	}

	void close() {
		this.closed = true;
	}

	/** The batches of one lane that are under way. */
	private static final class Lane {

		private static final Duration SHORTEST = Duration.ofMillis(100);

		private final Object node;

		private final Runnable onEnd;

		private final AtomicInteger underWay = new AtomicInteger(1);

		private final AtomicInteger failures = new AtomicInteger();

		/** How many batches in a row the store did not answer in time. */
		private final AtomicInteger timeouts = new AtomicInteger();

		private Lane(Object node, Runnable onEnd) {
			this.node = node;
			this.onEnd = onEnd;
		}

		/**
		 * Returns how long the next batch may take: less after each that was not
		 * answered, so that those of a dead store do not hold up each other for many
		 * time-outs.
		 */
		private Duration atMost(Duration timeout) {
			if (timeout.compareTo(SHORTEST) <= 0) {
				return timeout;
			}
			Duration less = timeout.dividedBy(1L << Math.min(this.timeouts.get(), 4));
			return (less.compareTo(SHORTEST) > 0) ? less : SHORTEST;
		}

		private void begin() {
			this.underWay.incrementAndGet();
		}

		private void end() {
			if (this.underWay.decrementAndGet() == 0) {
				this.onEnd.run();
			}
		}

	}

}
