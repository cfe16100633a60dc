package io.distributedlock.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.redis.ScriptExecutor.Reply;
import io.distributedlock.redis.ScriptExecutor.Running;

/**
 * Renews many locks by few scripts: one per bucket in a cluster, where only keys of one
 * slot go together, else one per 500 locks. All are sent before the first is awaited, so
 * that a node that does not answer holds up its own locks only.
 */
final class BatchRenewal {

	private static final Log logger = LogFactory.getLog(BatchRenewal.class);

	private static final int BATCH = 500;

	private static final RenewalOutcome[] OUTCOMES = { RenewalOutcome.NOT_HELD, RenewalOutcome.RENEWED,
			RenewalOutcome.UNKNOWN };

	private final ScriptExecutor calls;

	private final RedisLayout keys;

	private volatile boolean byBucket;

	/** Whether the last batch had an error, which is told once. */
	private volatile boolean failing;

	BatchRenewal(ScriptExecutor calls, RedisLayout keys, boolean cluster) {
		this.calls = calls;
		this.keys = keys;
		this.byBucket = cluster;
	}

	/** Renews each; throws only if nothing is known of any. */
	Map<LockGrant, RenewalOutcome> renew(Map<LockGrant, Duration> leases, Duration timeout) {
		long deadline = System.nanoTime() + timeout.toNanos();
		boolean together = !this.byBucket;
		try {
			return send(leases, timeout);
		}
		catch (LockProviderException ex) {
			if (!together || !RedisErrors.isSplit(ex)) {
				throw ex;
			}
			// A proxy before a cluster: the client does not know that it is one.
			this.byBucket = true;
			return send(leases, Duration.ofNanos(deadline - System.nanoTime()));
		}
	}

	private Map<LockGrant, RenewalOutcome> send(Map<LockGrant, Duration> leases, Duration timeout) {
		long deadline = System.nanoTime() + timeout.toNanos();
		Map<LockGrant, RenewalOutcome> outcomes = new HashMap<>(leases.size() * 2);
		List<List<Map.Entry<LockGrant, Duration>>> apart = new ArrayList<>();
		LockProviderException failure = send(batches(leases), deadline, outcomes, apart);
		if (!apart.isEmpty()) {
			LockProviderException another = send(apart, deadline, outcomes, new ArrayList<>());
			failure = (failure != null) ? failure : another;
		}
		if (failure != null && outcomes.isEmpty()) {
			throw failure;
		}
		if (failure != null) {
			tell(failure.getMessage(), failure);
		}
		return outcomes;
	}

	/**
	 * Sends all and reads the outcomes.
	 * @param apart gets, one by one, what failed because it was sent together
	 * @return the last failure, if any
	 */
	private @Nullable LockProviderException send(List<List<Map.Entry<LockGrant, Duration>>> batches, long deadline,
			Map<LockGrant, RenewalOutcome> outcomes, List<List<Map.Entry<LockGrant, Duration>>> apart) {
		Duration timeout = Duration.ofNanos(deadline - System.nanoTime());
		List<Running> running = new ArrayList<>(batches.size());
		batches.forEach((batch) -> running.add(this.calls.start(CallKind.RENEWAL, timeout, call(batch))));
		LockProviderException failure = null;
		for (int i = 0; i < batches.size(); i++) {
			List<Map.Entry<LockGrant, Duration>> batch = batches.get(i);
			try {
				read(batch, running.get(i).await(), outcomes);
			}
			catch (LockProviderException ex) {
				if (batch.size() > 1 && RedisErrors.isApart(ex)) {
					batch.forEach((entry) -> apart.add(List.of(entry)));
				}
				else {
					failure = ex;
				}
			}
		}
		return failure;
	}

	private List<List<Map.Entry<LockGrant, Duration>>> batches(Map<LockGrant, Duration> leases) {
		Map<Integer, List<Map.Entry<LockGrant, Duration>>> groups = new HashMap<>();
		leases.entrySet()
			.forEach((entry) -> groups
				.computeIfAbsent(this.byBucket ? RedisLayout.bucket(entry.getKey().key()) : 0,
						(absent) -> new ArrayList<>())
				.add(entry));
		List<List<Map.Entry<LockGrant, Duration>>> batches = new ArrayList<>();
		groups.values().forEach((group) -> {
			for (int from = 0; from < group.size(); from += BATCH) {
				batches.add(group.subList(from, Math.min(from + BATCH, group.size())));
			}
		});
		return batches;
	}

	private ScriptCall call(List<Map.Entry<LockGrant, Duration>> batch) {
		byte[][] locks = new byte[batch.size()][];
		byte[][] arguments = new byte[2 * batch.size()][];
		for (int i = 0; i < locks.length; i++) {
			LockGrant grant = batch.get(i).getKey();
			locks[i] = this.keys.lock(grant.key());
			arguments[2 * i] = RedisLayout.bytes(grant.owner().text());
			arguments[2 * i + 1] = millis(batch.get(i).getValue());
		}
		return new ScriptCall(Script.RENEW, locks, arguments);
	}

	private void read(List<Map.Entry<LockGrant, Duration>> batch, Reply reply,
			Map<LockGrant, RenewalOutcome> outcomes) {
		for (int i = 0; i < batch.size(); i++) {
			RenewalOutcome outcome = OUTCOMES[(int) reply.number(i)];
			outcomes.put(batch.get(i).getKey(),
					(outcome == RenewalOutcome.RENEWED && !reply.replicated()) ? RenewalOutcome.UNKNOWN : outcome);
		}
		byte[] error = reply.bytes(batch.size());
		if (error.length > 0) {
			tell(new String(error, StandardCharsets.UTF_8), null);
		}
		else if (!reply.replicated()) {
			tell("too few replicas have them", null);
		}
		else {
			this.failing = false;
		}
	}

	private void tell(@Nullable String problem, @Nullable Throwable ex) {
		if (!this.failing) {
			this.failing = true;
			logger.warn("Some locks could not be renewed and are tried again within their leases: " + problem, ex);
		}
	}

	/** A lease in whole milliseconds, rounded up: never shorter than asked for. */
	static byte[] millis(Duration lease) {
		long nanos = lease.toNanos();
		long millis = TimeUnit.NANOSECONDS.toMillis(nanos);
		return RedisLayout.bytes(Long.toString((TimeUnit.MILLISECONDS.toNanos(millis) == nanos) ? millis : millis + 1));
	}

}
