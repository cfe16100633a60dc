package io.distributedlock.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.redis.script.RedisErrors;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.redis.script.ReplyHandler;
import io.distributedlock.redis.script.Script;
import io.distributedlock.redis.script.ScriptCall;
import io.distributedlock.redis.script.ScriptExecutor;
import io.distributedlock.redis.script.ScriptReply;
import io.distributedlock.redis.script.ScriptSubmission;

/**
 * Renewal of many locks by few scripts: one per bucket in a cluster, whose scripts accept
 * keys of one slot only, else one per 100 locks, since the server serves nobody else
 * meanwhile. The scripts for the buckets of one {@linkplain #node node} are sent
 * together.
 */
public final class RedisRenewal {

	private static final Log logger = LogFactory.getLog(RedisRenewal.class);

	private static final int BATCH_SIZE = 100;

	private static final int NO_BUCKET = -1;

	/**
	 * How long before its time-out a renewal in parts ends with what is known: late
	 * enough for the executor to take the parts that are abandoned then for timed out.
	 */
	private static final long END_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

	/** The outcomes by the numbers that {@code renew.lua} replies. */
	private static final RenewalOutcome[] OUTCOMES = { RenewalOutcome.NOT_HELD, RenewalOutcome.RENEWED,
			RenewalOutcome.UNKNOWN };

	private final ScriptExecutor executor;

	private final RedisLayout layout;

	private final LockTimer timer;

	/** The slot of each bucket. */
	private final int[] slots = new int[RedisLayout.BUCKETS];

	private volatile boolean byBucket;

	/** Whether the last batch had an error; a row of errors is logged once. */
	private volatile boolean failing;

	public RedisRenewal(ScriptExecutor executor, RedisLayout layout, LockTimer timer, boolean cluster) {
		this.executor = executor;
		this.timer = timer;
		this.layout = layout;
		this.byBucket = cluster;
		Arrays.setAll(this.slots, (bucket) -> executor.slot(layout.lastOrder(bucket)));
	}

	/**
	 * Returns the node that keeps a lock, without asking a server.
	 * @return the master of the lock's slot in a cluster, or the bucket of the lock if it
	 * is not known; the same for all locks of a single server
	 */
	Object node(LockKey key) {
		if (!this.byBucket) {
			return RedisErrors.PROVIDER;
		}
		int bucket = RedisLayout.bucket(key);
		Object node = this.executor.node(this.slots[bucket]);
		return (node != null) ? node : Integer.valueOf(bucket);
	}

	/**
	 * Returns how many locks one renewal may have: in a cluster it is divided by buckets,
	 * so that a smaller one would become many scripts with few locks.
	 */
	int size() {
		return this.byBucket ? BATCH_SIZE * RedisLayout.BUCKETS : BATCH_SIZE;
	}

	/** Returns the bucket of a lock in a cluster, else the same for all locks. */
	private int group(LockGrant grant) {
		return this.byBucket ? RedisLayout.bucket(grant.key()) : NO_BUCKET;
	}

	/**
	 * Renews grants.
	 * @return the call, which fails if the outcome of all of them is unknown
	 */
	public StoreCall<Map<LockGrant, RenewalOutcome>> renew(Map<LockGrant, Duration> leases, Duration timeout) {
		Batch batch = new Batch(List.copyOf(leases.entrySet()), Deadline.after(timeout));
		batch.send();
		return batch.call();
	}

	private List<List<Map.Entry<LockGrant, Duration>>> parts(List<Map.Entry<LockGrant, Duration>> entries) {
		Map<Integer, List<Map.Entry<LockGrant, Duration>>> groups = new LinkedHashMap<>();
		entries.forEach(
				(entry) -> groups.computeIfAbsent(group(entry.getKey()), (absent) -> new ArrayList<>()).add(entry));
		List<List<Map.Entry<LockGrant, Duration>>> parts = new ArrayList<>();
		groups.values().forEach((group) -> {
			for (int from = 0; from < group.size(); from += BATCH_SIZE) {
				parts.add(group.subList(from, Math.min(from + BATCH_SIZE, group.size())));
			}
		});
		return parts;
	}

	private void warn(@Nullable String problem, @Nullable Throwable ex) {
		if (!this.failing) {
			this.failing = true;
			logger.warn("Some locks could not be renewed, and are retried within their leases: " + problem, ex);
		}
	}

	/** Grants that are renewed by one script, or in parts if the server requires it. */
	private final class Batch extends ReplyHandler<Map<LockGrant, RenewalOutcome>> {

		private final List<Map.Entry<LockGrant, Duration>> entries;

		private final Deadline deadline;

		private Batch(List<Map.Entry<LockGrant, Duration>> entries, Deadline deadline) {
			this.entries = entries;
			this.deadline = deadline;
		}

		private void send() {
			List<List<Map.Entry<LockGrant, Duration>>> parts = parts(this.entries);
			if (parts.size() == 1) {
				RedisRenewal.this.executor.run(script(), CallKind.RENEWAL, this.deadline, this);
			}
			else {
				send(parts);
			}
		}

		private ScriptCall script() {
			byte[][] locks = new byte[this.entries.size()][];
			byte[][] arguments = new byte[2 * locks.length][];
			for (int i = 0; i < locks.length; i++) {
				LockGrant grant = this.entries.get(i).getKey();
				locks[i] = RedisRenewal.this.layout.lock(grant.key());
				arguments[2 * i] = RedisLayout.bytes(grant.owner().text());
				arguments[2 * i + 1] = ScriptCall.millis(this.entries.get(i).getValue());
			}
			return new ScriptCall(Script.RENEW, locks, arguments);
		}

		private void send(List<List<Map.Entry<LockGrant, Duration>>> parts) {
			List<Batch> batches = parts.stream().map((part) -> new Batch(part, this.deadline)).toList();
			call().onAbandon(() -> batches.forEach((batch) -> batch.call().abandon()));
			RedisRenewal.this.executor.runAll(
					batches.stream().map((batch) -> new ScriptSubmission(batch.script(), batch)).toList(),
					CallKind.RENEWAL, this.deadline);
			AtomicInteger open = new AtomicInteger(batches.size());
			batches.forEach((batch) -> batch.call().onDone(() -> {
				if (open.decrementAndGet() == 0) {
					end(batches);
				}
			}));
			if (open.get() > 0) {
				long remaining = this.deadline.remainingNanos();
				RedisRenewal.this.timer.trySchedule(() -> endInTime(batches),
						remaining - Math.min(remaining / 5, END_NANOS));
			}
		}

		/**
		 * Ends the call shortly before its time-out with what is known by then: a part
		 * that is not answered takes no other along.
		 */
		private void endInTime(List<Batch> parts) {
			List<Batch> done = parts.stream().filter((part) -> part.call().isDone()).toList();
			if (!done.isEmpty() && done.size() < parts.size() && !isAbandoned()) {
				warn(parts.size() - done.size() + " of " + parts.size() + " parts were not answered in time", null);
				end(done);
				parts.forEach((part) -> part.call().abandon());
			}
		}

		private void end(List<Batch> parts) {
			Map<LockGrant, RenewalOutcome> outcomes = new HashMap<>(this.entries.size() * 2);
			LockProviderException failure = null;
			for (Batch part : parts) {
				try {
					outcomes.putAll(part.call().result());
				}
				catch (RuntimeException ex) {
					failure = RedisErrors.translate(ex, false);
				}
			}
			if (failure != null && outcomes.isEmpty()) {
				call().fail(failure);
				return;
			}
			if (failure != null) {
				warn(failure.getMessage(), failure);
			}
			call().complete(outcomes);
		}

		@Override
		public void onReply(ScriptReply reply) {
			Map<LockGrant, RenewalOutcome> outcomes = new HashMap<>(this.entries.size() * 2);
			for (int i = 0; i < this.entries.size(); i++) {
				RenewalOutcome outcome = OUTCOMES[(int) reply.number(i)];
				outcomes.put(this.entries.get(i).getKey(),
						(outcome == RenewalOutcome.RENEWED && !reply.replicated()) ? RenewalOutcome.UNKNOWN : outcome);
			}
			byte[] error = reply.bytes(this.entries.size());
			if (error.length > 0) {
				warn(new String(error, StandardCharsets.UTF_8).strip(), null);
			}
			else if (!reply.replicated()) {
				warn("too few replicas acknowledged the renewal", null);
			}
			else {
				RedisRenewal.this.failing = false;
			}
			Optional<LockGrant> notHeld = outcomes.keySet()
				.stream()
				.filter((grant) -> outcomes.get(grant) == RenewalOutcome.NOT_HELD)
				.findAny();
			if (notHeld.isPresent()) {
				confirmNotHeld(RedisRenewal.this.layout.lock(notHeld.get().key()), outcomes);
			}
			else {
				call().complete(outcomes);
			}
		}

		/** Another server than the one that was asked may have the locks. */
		private void confirmNotHeld(byte[] lock, Map<LockGrant, RenewalOutcome> outcomes) {
			StoreCall<Boolean> confirmation = RedisRenewal.this.executor.confirmNotHeld(lock, this.deadline);
			confirmation.onDone(() -> {
				try {
					confirmation.result();
				}
				catch (LockException ex) {
					warn(ex.getMessage(), ex);
					outcomes.replaceAll((grant, outcome) -> (outcome == RenewalOutcome.NOT_HELD)
							? RenewalOutcome.UNKNOWN : outcome);
				}
				call().complete(outcomes);
			});
		}

		@Override
		public void onFailure(LockProviderException failure) {
			List<List<Map.Entry<LockGrant, Duration>>> parts = List.of();
			if (RedisErrors.isSlotMigrating(failure)) {
				parts = this.entries.stream().map((entry) -> List.of(entry)).toList();
			}
			else if (RedisErrors.isCrossSlot(failure)) {
				// The connection factory is that of a single server: a proxy hides the
				// cluster.
				RedisRenewal.this.byBucket = true;
				parts = parts(this.entries);
			}
			if (parts.size() > 1) {
				send(parts);
			}
			else {
				call().fail(failure);
			}
		}

	}

}
