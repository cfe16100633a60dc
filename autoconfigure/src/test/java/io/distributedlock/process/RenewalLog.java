package io.distributedlock.process;

import java.time.Duration;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

import io.distributedlock.LockKey;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.testkit.StoreCalls;

/**
 * Watches what a provider is sent: how many renewals, and which of them for owners that
 * were released before. A grant is claimed for a renewal before it is sent, and can be
 * claimed by one renewal at a time: so one renewal of an owner may be sent after its
 * release, that which was claimed before, and a second one may not.
 */
public final class RenewalLog implements LockProvider {

	private final LockProvider provider;

	private static final int REMEMBERED = 1_000;

	/** The latest releases. */
	private final Map<OwnerId, Release> releases = new ConcurrentHashMap<>();

	private final Queue<OwnerId> released = new ConcurrentLinkedQueue<>();

	private final AtomicInteger releaseCount = new AtomicInteger();

	/** The owners whose renewals were sent and not answered yet. */
	private final Set<OwnerId> renewing = ConcurrentHashMap.newKeySet();

	private final AtomicInteger batches = new AtomicInteger();

	private final AtomicInteger renewed = new AtomicInteger();

	private final AtomicInteger underWay = new AtomicInteger();

	private final AtomicInteger begunAfterRelease = new AtomicInteger();

	private final AtomicInteger revived = new AtomicInteger();

	/**
	 * Watches a provider.
	 * @param provider whose calls are passed on
	 */
	public RenewalLog(LockProvider provider) {
		this.provider = provider;
	}

	/** How many round trips renewed something, or tried to. */
	public int batches() {
		return this.batches.get();
	}

	/** How many grants were renewed, each time counted. */
	public int renewed() {
		return this.renewed.get();
	}

	/** How many renewals were without an answer when the release was called. */
	public int underWay() {
		return this.underWay.get();
	}

	/** How many renewals cannot have been claimed before the release was called. */
	public int begunAfterRelease() {
		return this.begunAfterRelease.get();
	}

	/** How many were confirmed though they were sent after the release's answer. */
	public int revived() {
		return this.revived.get();
	}

	@Override
	public String name() {
		return this.provider.name();
	}

	@Override
	public boolean isBlocking() {
		return this.provider.isBlocking();
	}

	@Override
	public Object node(LockKey key) {
		return this.provider.node(key);
	}

	@Override
	public LockContender newContender(LockKey key, Runnable onNotified) {
		return this.provider.newContender(key, onNotified);
	}

	@Override
	public StoreCall<Map<LockGrant, RenewalOutcome>> renew(Map<LockGrant, Duration> leases, Duration timeout) {
		this.batches.incrementAndGet();
		Map<LockGrant, Boolean> answered = new ConcurrentHashMap<>();
		leases.keySet().forEach((grant) -> {
			this.renewing.add(grant.owner());
			Release release = this.releases.get(grant.owner());
			if (release != null) {
				this.underWay.incrementAndGet();
				if (release.renewals.incrementAndGet() > 1) {
					this.begunAfterRelease.incrementAndGet();
				}
				answered.put(grant, release.answered);
			}
		});
		return StoreCalls.watched(this.provider.renew(leases, timeout), (outcomes, failure) -> {
			leases.keySet().forEach((grant) -> this.renewing.remove(grant.owner()));
			if (outcomes != null) {
				count(outcomes, answered);
			}
		});
	}

	private void count(Map<LockGrant, RenewalOutcome> outcomes, Map<LockGrant, Boolean> answered) {
		outcomes.forEach((grant, outcome) -> {
			if (outcome == RenewalOutcome.RENEWED) {
				this.renewed.incrementAndGet();
				if (answered.getOrDefault(grant, false)) {
					this.revived.incrementAndGet();
				}
			}
		});
	}

	@Override
	public boolean supportsMinHold() {
		return this.provider.supportsMinHold();
	}

	@Override
	public StoreCall<ReleaseOutcome> release(LockKey key, OwnerId owner, Duration keepFor, Duration timeout) {
		if (this.renewing.contains(owner)) {
			this.underWay.incrementAndGet();
		}
		Release release = this.releases.computeIfAbsent(owner, (first) -> new Release());
		this.released.add(owner);
		if (this.releaseCount.incrementAndGet() > REMEMBERED) {
			this.releases.remove(this.released.remove());
		}
		return StoreCalls.watched(this.provider.release(key, owner, keepFor, timeout), (outcome, failure) -> {
			if (outcome != null) {
				release.answered = outcome != ReleaseOutcome.UNKNOWN;
			}
		});
	}

	@Override
	public void check(Duration timeout) {
		this.provider.check(timeout);
	}

	private static final class Release {

		private final AtomicInteger renewals = new AtomicInteger();

		private volatile boolean answered;

	}

}
