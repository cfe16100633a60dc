package io.distributedlock.redis.quorum;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.redis.script.RedisErrors;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.redis.script.Script;
import io.distributedlock.redis.script.ScriptCall;
import io.distributedlock.redis.script.ScriptReply;

/**
 * Entrance of servers to a quorum: what they know of each other before one takes part.
 * <p>
 * <b>Invariants.</b> No two nodes lead to the same process of a server: it would vote
 * twice, and be a majority of three by itself. A process of this application that one
 * node refuses for its longest lease takes part on no other node either: the delay after
 * a restart would be too short for leases of the others.
 * <p>
 * A member (a server whose mark is the run id of its process) knows an order that is not
 * below that of any grant which counted on it. A server comes here after the longest
 * lease since its start. A grant that counted on its former process has expired or has
 * written its order to a majority by then. That majority and a majority of the other
 * servers, all members, have a server in common, from which the order is learnt.
 * <p>
 * If so many servers have restarted that their absence leaves no majority of members, no
 * such majority ever comes back: they become members by what all servers that reply know.
 * Orders still rise then as long as no clock is behind the last order. Each of them keeps
 * the run ids of the others beside its mark, so that a server is not left behind when the
 * first of them have become members.
 */
final class NodeJoin {

	/** How long to wait for servers that may be down. */
	private static final Duration PATIENCE = Duration.ofSeconds(4);

	private final RedisLayout layout;

	private final int size;

	private final LockTimer timer;

	/** Finds a connection to each server that has run for long enough. */
	private final List<Supplier<CompletableFuture<NodeConnection>>> servers = new CopyOnWriteArrayList<>();

	/** The last connection of each node that was admitted; guarded by the monitor. */
	private final Map<QuorumNode, NodeConnection> admitted = new HashMap<>();

	/** The nodes that refuse this process for its longest lease. */
	private final Map<QuorumNode, LockConfigurationException> refusals = new ConcurrentHashMap<>();

	NodeJoin(RedisLayout layout, int size, LockTimer timer) {
		this.layout = layout;
		this.size = size;
		this.timer = timer;
	}

	/** Returns the size of a majority. */
	static int majority(int size) {
		return size / 2 + 1;
	}

	/**
	 * Adds a server of the quorum.
	 * @param connection finds a connection to it, once it has run for long enough
	 */
	void add(Supplier<CompletableFuture<NodeConnection>> connection) {
		this.servers.add(connection);
	}

	/** Records whether a node refuses this process for its longest lease. */
	void recordRefusal(QuorumNode node, @Nullable LockConfigurationException refusal) {
		this.refusals.compute(node, (same, former) -> refusal);
	}

	/**
	 * Returns the failure of a command to a node that does not refuse this process, while
	 * another one does; else {@code null}. The one that does is asked again: it may have
	 * changed.
	 */
	@Nullable LockProviderException refusalByOthers(QuorumNode node) {
		if (this.refusals.isEmpty() || this.refusals.containsKey(node)) {
			return null;
		}
		return this.refusals.entrySet()
			.stream()
			.findFirst()
			.map((first) -> LockProviderException.nothingSent(first.getValue().error(), RedisErrors.PROVIDER,
					"is not used, since " + first.getKey().name() + " refuses this process", first.getValue()))
			.orElse(null);
	}

	/**
	 * Admits a connection of a node to a server.
	 * @throws LockConfigurationException if the connection of another node leads to it
	 */
	synchronized void admit(QuorumNode node, NodeConnection connection) {
		this.admitted.forEach((other, present) -> {
			if (other == node || !present.runId().equals(connection.runId())) {
				return;
			}
			if (present.isUsable()) {
				throw new LockConfigurationException(LockError.INVALID_PROPERTY,
						QuorumNodeCheck.subject(node.name()) + " leads to the same server as " + other.name()
								+ ", which would vote twice",
						"Name each server once in distributed-lock.redis.quorum.nodes, and look at aliases, forwarded"
								+ " ports and proxies");
			}
			// A server that was silent must not be reached by both once it replies.
			present.close();
		});
		this.admitted.put(node, connection);
	}

	/**
	 * Makes a server a member by what the servers know that reply in time.
	 * @param entrant a connection to a server that has run for long enough
	 * @return its end, which fails with a {@link LockProviderException} if too few
	 * servers reply
	 */
	CompletableFuture<?> enter(NodeConnection entrant) {
		List<CompletableFuture<Knowledge>> reads = this.servers.stream()
			.map((server) -> server.get().thenCompose(this::read))
			.toList();
		CompletableFuture<List<Knowledge>> known = new CompletableFuture<>();
		Runnable end = () -> known.complete(reads.stream()
			.filter((read) -> read.isDone() && !read.isCompletedExceptionally())
			.map(CompletableFuture::join)
			.toList());
		Future<?> expiry = this.timer.trySchedule(end, PATIENCE.toNanos());
		CompletableFuture.allOf(reads.toArray(CompletableFuture[]::new)).whenComplete((nothing, failure) -> {
			if (expiry != null) {
				expiry.cancel(false);
			}
			end.run();
		});
		return known.thenCompose((all) -> join(entrant, all));
	}

	private CompletableFuture<Knowledge> read(NodeConnection server) {
		return server.run(new ScriptCall(Script.QUORUM_ORDERS, keys(), new byte[0][]))
			.thenApply((reply) -> new Knowledge(server, reply));
	}

	private byte[][] keys() {
		byte[][] keys = new byte[1 + RedisLayout.BUCKETS][];
		keys[0] = this.layout.quorumMember();
		for (int bucket = 0; bucket < RedisLayout.BUCKETS; bucket++) {
			keys[1 + bucket] = this.layout.lastOrder(bucket);
		}
		return keys;
	}

	private CompletableFuture<?> join(NodeConnection entrant, List<Knowledge> known) {
		int majority = majority(this.size);
		long members = known.stream().filter((one) -> one.isMember() && one.server() != entrant).count();
		List<String> fresh = known.stream()
			.filter((one) -> !one.isMember())
			.map((one) -> one.server().runId())
			.toList();
		boolean together = fresh.size() > this.size - majority;
		if (members < majority && !together && known.stream().noneMatch((one) -> one.hasCompanion(entrant))) {
			return CompletableFuture
				.failedFuture(LockProviderException.nothingSent(LockError.STORE_FAILED, RedisErrors.PROVIDER,
						"waits for " + majority
								+ " other nodes of the quorum, to learn the last orders from them; only " + members
								+ " reply",
						null));
		}
		byte[][] arguments = new byte[2 + RedisLayout.BUCKETS][];
		arguments[0] = RedisLayout.bytes(entrant.runId() + (together ? String.join("", fresh) : ""));
		arguments[1] = RedisLayout.bytes(Integer.toString(entrant.runId().length()));
		for (int bucket = 0; bucket < RedisLayout.BUCKETS; bucket++) {
			int index = bucket;
			long last = known.stream().mapToLong((one) -> one.order(index)).max().orElse(0);
			arguments[2 + bucket] = RedisLayout.bytes(Long.toString(last));
		}
		return entrant.run(new ScriptCall(Script.QUORUM_JOIN, keys(), arguments));
	}

	/**
	 * What a server knows. Its mark begins with the run id of the process that has it.
	 */
	private record Knowledge(NodeConnection server, ScriptReply reply) {

		private String mark() {
			return new String(this.reply.bytes(0), StandardCharsets.UTF_8);
		}

		boolean isMember() {
			return mark().startsWith(this.server.runId());
		}

		/** Whether it has become a member together with another server. */
		boolean hasCompanion(NodeConnection other) {
			return isMember() && mark().contains(other.runId());
		}

		long order(int bucket) {
			return this.reply.number(1 + bucket);
		}

	}

}
