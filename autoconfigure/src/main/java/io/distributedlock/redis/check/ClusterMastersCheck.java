package io.distributedlock.redis.check;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.redis.script.ScriptExecutor;
import io.distributedlock.redis.script.ScriptReply;

/**
 * The check of the masters of a cluster: of each once, as far as the client knows which
 * slots they serve. A node that takes over a slot later is not checked. Each is asked for
 * its commands too, since the users of a node are its own.
 */
public final class ClusterMastersCheck implements TopologyCheck {

	private static final Log logger = LogFactory.getLog(ClusterMastersCheck.class);

	private final ScriptExecutor executor;

	private final RedisLayout layout;

	/** The slot of each bucket. */
	private final int[] slots = new int[RedisLayout.BUCKETS];

	/** The slots whose master was checked. */
	private final Set<Integer> done = ConcurrentHashMap.newKeySet();

	/** The run ids of the masters that have replied: a WARN names each once. */
	private final Set<String> runIds = ConcurrentHashMap.newKeySet();

	public ClusterMastersCheck(ScriptExecutor executor, RedisLayout layout) {
		this.executor = executor;
		this.layout = layout;
		Arrays.setAll(this.slots, (bucket) -> executor.slot(layout.lastOrder(bucket)));
	}

	@Override
	public boolean isDone(int slot) {
		return this.done.contains(slot);
	}

	@Override
	public Supplier<List<CheckScript>> ofSlot(int slot) {
		return () -> isDone(slot) ? List.of() : List.of(nextStep(slot));
	}

	@Override
	public Supplier<List<CheckScript>> ofAll() {
		AtomicBoolean begun = new AtomicBoolean();
		return () -> begun.getAndSet(true) ? List.of() : steps();
	}

	/** One step for each node that the client knows, and for each slot of the others. */
	private List<CheckScript> steps() {
		Set<Object> nodes = new HashSet<>();
		List<CheckScript> steps = new ArrayList<>();
		for (int slot : this.slots) {
			Object node = this.executor.node(slot);
			if (!isDone(slot) && nodes.add((node != null) ? node : Integer.valueOf(slot))) {
				CheckScript step = nextStep(slot);
				steps.add(new CheckScript(step.script(), step.onReply(), (failure) -> {
					if (failure.error() == LockError.NOT_PERMITTED || failure.error() == LockError.STORE_UNSUITABLE) {
						step.onFailure().accept(failure);
					}
					logger.debug("The master of slot " + slot + " is checked before the first attempt", failure);
				}));
			}
		}
		return steps;
	}

	private CheckScript nextStep(int slot) {
		String key = this.layout.noKey(bucket(slot));
		return CheckScript.ofServer(server(key), new byte[][] { RedisLayout.bytes(key) },
				(reply) -> recordReply(slot, key, reply));
	}

	private static String server(String key) {
		return "The Redis server that keeps keys like '" + key + "'";
	}

	private int bucket(int slot) {
		int bucket = 0;
		while (this.slots[bucket] != slot) {
			bucket++;
		}
		return bucket;
	}

	private void recordReply(int slot, String key, ScriptReply reply) {
		ServerInfo info = ServerInfo.of(reply, 2);
		String runId = info.runId();
		String server = (runId != null) ? "The Redis server with port " + info.port() + " and run_id " + runId
				: server(key);
		info.requireSuitable(server, reply);
		Object node = this.executor.node(slot);
		if (this.runIds.add((runId != null) ? runId : "slot " + slot)) {
			info.warnOfEviction(server);
		}
		for (int other : this.slots) {
			if (other == slot || isSame(node, this.executor.node(other))) {
				this.done.add(other);
			}
		}
	}

	private static boolean isSame(@Nullable Object node, @Nullable Object other) {
		return node != null && Objects.equals(node, other);
	}

}
