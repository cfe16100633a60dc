package io.distributedlock.redis;

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

/**
 * The check of the primaries of a cluster: of each once, as far as the client knows which
 * slots they serve. A node that takes over a slot later is not checked.
 */
final class ClusterPrimariesCheck implements ServersCheck {

	private static final Log logger = LogFactory.getLog(ClusterPrimariesCheck.class);

	private final ScriptExecutor executor;

	private final RedisLayout layout;

	/** The slot of each bucket. */
	private final int[] slots = new int[RedisLayout.BUCKETS];

	/** The slots whose primary was checked. */
	private final Set<Integer> done = ConcurrentHashMap.newKeySet();

	/** The run ids of the primaries that have replied: a WARN names each once. */
	private final Set<String> runIds = ConcurrentHashMap.newKeySet();

	ClusterPrimariesCheck(ScriptExecutor executor, RedisLayout layout) {
		this.executor = executor;
		this.layout = layout;
		Arrays.setAll(this.slots, (bucket) -> executor.slot(layout.lastOrder(bucket)));
	}

	@Override
	public boolean isDone(int slot) {
		return this.done.contains(slot);
	}

	@Override
	public boolean isDone() {
		return Arrays.stream(this.slots).allMatch(this::isDone);
	}

	@Override
	public Supplier<List<CheckStep>> ofSlot(int slot) {
		return () -> {
			if (isDone(slot)) {
				return List.of();
			}
			ScriptCall script = script(slot);
			return List.of(new CheckStep(script, () -> !isDone(slot), (reply) -> recordReply(slot, reply)));
		};
	}

	@Override
	public Supplier<List<CheckStep>> ofAll() {
		AtomicBoolean sent = new AtomicBoolean();
		return () -> sent.getAndSet(true) ? List.of() : steps();
	}

	/** One step for each node that the client knows, and for each slot of the others. */
	private List<CheckStep> steps() {
		Set<Object> nodes = new HashSet<>();
		List<CheckStep> steps = new ArrayList<>();
		for (int slot : this.slots) {
			Object node = this.executor.node(slot);
			if (!isDone(slot) && nodes.add((node != null) ? node : Integer.valueOf(slot))) {
				steps.add(new CheckStep(script(slot), () -> !isDone(slot), (reply) -> recordReply(slot, reply),
						(failure) -> logger
							.debug("The primary of slot " + slot + " is checked before the first attempt", failure)));
			}
		}
		return steps;
	}

	private ScriptCall script(int slot) {
		int bucket = 0;
		while (this.slots[bucket] != slot) {
			bucket++;
		}
		return new ScriptCall(Script.SERVER, new byte[][] { this.layout.lastOrder(bucket) }, new byte[][] {
				RedisLayout.bytes("server"), RedisLayout.bytes("memory"), RedisLayout.bytes("replication") });
	}

	private void recordReply(int slot, ScriptReply reply) {
		ServerInfo info = ServerInfo.of(reply, 0);
		info.requireSuitable();
		Object node = this.executor.node(slot);
		String runId = info.runId();
		if (this.runIds.add((runId != null) ? runId : "slot " + slot)) {
			info.warnOfEviction("The Redis server with port " + info.port() + " and run_id " + runId);
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
