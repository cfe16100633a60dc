package io.distributedlock.redis.quorum;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.redis.script.RedisErrors;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.redis.script.RedisTimer;
import io.distributedlock.redis.script.Script;
import io.distributedlock.redis.script.ScriptCall;
import io.distributedlock.redis.script.ScriptReply;

/**
 * Entrance of servers to a quorum: a server that has restarted learns the last orders
 * before it takes part in it.
 * <p>
 * <b>Invariant.</b> A member (a server whose mark is the run id of its process) knows an
 * order that is not below that of any grant which counted on it. A server comes here
 * after the longest lease since its start. A grant that counted on its former process has
 * expired or has written its order to a majority by then. That majority and a majority of
 * the other servers, all members, have a server in common, from which the order is
 * learnt.
 * <p>
 * If so many servers have restarted that their absence leaves no majority of members, no
 * such majority ever comes back: they become members by what all servers that reply know.
 * Orders still rise then as long as no clock is behind the last order. Each of them keeps
 * the run ids of the others beside its mark, so that a server is not left behind when the
 * first of them have become members.
 */
final class NodeJoin {

	/** How long to wait for the replies of servers that may be down. */
	private static final Duration PATIENCE = Duration.ofSeconds(3);

	private final RedisLayout layout;

	private final int size;

	private final RedisTimer timer;

	private volatile List<Supplier<CompletableFuture<NodeConnection>>> peers = List.of();

	NodeJoin(RedisLayout layout, int size, RedisTimer timer) {
		this.layout = layout;
		this.size = size;
		this.timer = timer;
	}

	/**
	 * Sets how a connection to each server of the quorum is found, to one that has run
	 * for long enough.
	 */
	void setPeers(List<Supplier<CompletableFuture<NodeConnection>>> peers) {
		this.peers = peers;
	}

	/** Returns the size of a majority. */
	static int majority(int size) {
		return size / 2 + 1;
	}

	/**
	 * Makes a server a member.
	 * @param entrant a connection to a server that has run for long enough
	 * @return its end, which fails with a {@link LockProviderException} if too few
	 * servers reply
	 */
	CompletableFuture<?> enter(NodeConnection entrant) {
		List<CompletableFuture<NodeConnection>> asked = this.peers.stream().map(Supplier::get).toList();
		return settled(asked).thenCompose((open) -> read(entrant, results(asked)));
	}

	private CompletableFuture<?> read(NodeConnection entrant, List<NodeConnection> servers) {
		List<CompletableFuture<Knowledge>> reads = servers.stream().map(this::read).toList();
		return settled(reads).thenCompose((done) -> join(entrant, results(reads)));
	}

	private CompletableFuture<Knowledge> read(NodeConnection server) {
		return server.run(new ScriptCall(Script.QUORUM_ORDERS, keys(), new byte[0][]))
			.thenApply((reply) -> Knowledge.of(server, reply));
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
			long last = known.stream().mapToLong((one) -> one.orders()[index]).max().orElse(0);
			arguments[2 + bucket] = RedisLayout.bytes(Long.toString(last));
		}
		return entrant.run(new ScriptCall(Script.QUORUM_JOIN, keys(), arguments));
	}

	/** Ends when all have ended, or after a time. */
	private <T> CompletableFuture<?> settled(List<CompletableFuture<T>> all) {
		CompletableFuture<?> settled = CompletableFuture
			.allOf(all.stream().map((one) -> one.handle((value, failure) -> 0)).toArray(CompletableFuture[]::new));
		CompletableFuture<@Nullable Void> end = new CompletableFuture<>();
		Future<?> expiry = this.timer.schedule(() -> end.complete(null), PATIENCE.toNanos());
		settled.whenComplete((nothing, failure) -> {
			if (expiry != null) {
				expiry.cancel(false);
			}
			end.complete(null);
		});
		return end;
	}

	private static <T> List<T> results(List<CompletableFuture<T>> all) {
		List<T> results = new ArrayList<>();
		for (CompletableFuture<T> one : all) {
			if (one.isDone() && !one.isCompletedExceptionally()) {
				results.add(Objects.requireNonNull(one.join()));
			}
		}
		return results;
	}

	/**
	 * What a server knows. The mark begins with the run id of the process that has it.
	 */
	@SuppressWarnings("ArrayRecordComponent") // never compared
	private record Knowledge(NodeConnection server, String mark, long[] orders) {

		static Knowledge of(NodeConnection server, ScriptReply reply) {
			long[] orders = new long[RedisLayout.BUCKETS];
			for (int bucket = 0; bucket < orders.length; bucket++) {
				orders[bucket] = reply.number(1 + bucket);
			}
			return new Knowledge(server, new String(reply.bytes(0), StandardCharsets.UTF_8), orders);
		}

		boolean isMember() {
			return this.mark.startsWith(this.server.runId());
		}

		/** Whether it has become a member together with another server. */
		boolean hasCompanion(NodeConnection other) {
			return isMember() && this.mark.contains(other.runId());
		}

	}

}
