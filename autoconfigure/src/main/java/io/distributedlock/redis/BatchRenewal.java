package io.distributedlock.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.redis.ScriptExecutor.Execution;

/**
 * Renewal of many locks by few scripts: one per bucket in a cluster, whose scripts accept
 * keys of one slot only, else one per 500 locks. All scripts are sent before the first
 * reply is awaited, so that a node that does not reply delays only its own locks.
 */
final class BatchRenewal {

	private static final Log logger = LogFactory.getLog(BatchRenewal.class);

	private static final int BATCH_SIZE = 500;

	/** The outcomes by the numbers that {@code renew.lua} replies. */
	private static final RenewalOutcome[] OUTCOMES = { RenewalOutcome.NOT_HELD, RenewalOutcome.RENEWED,
			RenewalOutcome.UNKNOWN };

	private final ScriptExecutor executor;

	private final RedisLayout layout;

	private volatile boolean byBucket;

	/** Whether the last batch had an error; a row of errors is logged once. */
	private volatile boolean failing;

	BatchRenewal(ScriptExecutor executor, RedisLayout layout, boolean cluster) {
		this.executor = executor;
		this.layout = layout;
		this.byBucket = cluster;
	}

	/**
	 * Renews grants.
	 * @throws LockProviderException if the outcome of all of them is unknown
	 */
	Map<LockGrant, RenewalOutcome> renew(Map<LockGrant, Duration> leases, Duration timeout) {
		Deadline deadline = Deadline.after(timeout);
		boolean mixed = !this.byBucket;
		try {
			return send(leases, deadline);
		}
		catch (LockProviderException ex) {
			if (!mixed || !RedisErrors.isCrossSlot(ex)) {
				throw ex;
			}
			// The connection factory is that of a single server: a proxy hides the
			// cluster.
			this.byBucket = true;
			return send(leases, deadline);
		}
	}

	private Map<LockGrant, RenewalOutcome> send(Map<LockGrant, Duration> leases, Deadline deadline) {
		Map<LockGrant, RenewalOutcome> outcomes = new HashMap<>(leases.size() * 2);
		List<List<Map.Entry<LockGrant, Duration>>> single = new ArrayList<>();
		LockProviderException failure = send(batches(leases), deadline, outcomes, single);
		if (!single.isEmpty()) {
			LockProviderException another = send(single, deadline, outcomes, new ArrayList<>());
			failure = (failure != null) ? failure : another;
		}
		if (failure != null && outcomes.isEmpty()) {
			throw failure;
		}
		if (failure != null) {
			warn(failure.getMessage(), failure);
		}
		return outcomes;
	}

	/**
	 * Sends all batches and reads their outcomes.
	 * @param single receives the grants of a batch whose slot is migrating, one by one
	 * @return the last failure, if any
	 */
	private @Nullable LockProviderException send(List<List<Map.Entry<LockGrant, Duration>>> batches, Deadline deadline,
			Map<LockGrant, RenewalOutcome> outcomes, List<List<Map.Entry<LockGrant, Duration>>> single) {
		List<Execution> executions = new ArrayList<>(batches.size());
		batches.forEach((batch) -> executions.add(this.executor.start(CallKind.RENEWAL, deadline, call(batch))));
		LockProviderException failure = null;
		for (int i = 0; i < batches.size(); i++) {
			List<Map.Entry<LockGrant, Duration>> batch = batches.get(i);
			try {
				read(batch, executions.get(i).await(), outcomes);
			}
			catch (LockProviderException ex) {
				if (batch.size() > 1 && RedisErrors.isSlotMigrating(ex)) {
					batch.forEach((entry) -> single.add(List.of(entry)));
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
			for (int from = 0; from < group.size(); from += BATCH_SIZE) {
				batches.add(group.subList(from, Math.min(from + BATCH_SIZE, group.size())));
			}
		});
		return batches;
	}

	private ScriptCall call(List<Map.Entry<LockGrant, Duration>> batch) {
		byte[][] locks = new byte[batch.size()][];
		byte[][] arguments = new byte[2 * batch.size()][];
		for (int i = 0; i < locks.length; i++) {
			LockGrant grant = batch.get(i).getKey();
			locks[i] = this.layout.lock(grant.key());
			arguments[2 * i] = RedisLayout.bytes(grant.owner().text());
			arguments[2 * i + 1] = ScriptCall.millis(batch.get(i).getValue());
		}
		return new ScriptCall(Script.RENEW, locks, arguments);
	}

	private void read(List<Map.Entry<LockGrant, Duration>> batch, ScriptReply reply,
			Map<LockGrant, RenewalOutcome> outcomes) {
		for (int i = 0; i < batch.size(); i++) {
			RenewalOutcome outcome = OUTCOMES[(int) reply.number(i)];
			outcomes.put(batch.get(i).getKey(),
					(outcome == RenewalOutcome.RENEWED && !reply.replicated()) ? RenewalOutcome.UNKNOWN : outcome);
		}
		byte[] error = reply.bytes(batch.size());
		if (error.length > 0) {
			warn(new String(error, StandardCharsets.UTF_8), null);
		}
		else if (!reply.replicated()) {
			warn("too few replicas acknowledged the renewal", null);
		}
		else {
			this.failing = false;
		}
	}

	private void warn(@Nullable String problem, @Nullable Throwable ex) {
		if (!this.failing) {
			this.failing = true;
			logger.warn("Some locks could not be renewed, and are retried within their leases: " + problem, ex);
		}
	}

}
