package io.distributedlock.redis;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.OwnerId;

/**
 * The search for a proxy that hides several servers. One that divides the keys among
 * them, by the first key of a command, would run the renewal of several locks on one
 * server, which does not have them all.
 * <p>
 * A script for each bucket, whose second key is that of the format, asks which server
 * runs it. A proxy that refuses it with {@code CROSSSLOT} divides a renewal before it
 * sends it, and is accepted. The id of a server also changes when it restarts or a
 * replica is promoted, so a difference has to be seen in two rounds.
 */
final class ProxyCheck implements ServersCheck {

	private final RedisLayout layout;

	private volatile boolean done;

	/** The server that ran the script for each bucket; guarded by the monitor. */
	private final @Nullable String[] servers = new String[RedisLayout.BUCKETS];

	/** The number of this round, whose replies count; guarded by the monitor. */
	private int round;

	/** Whether the round before found several servers; guarded by the monitor. */
	private boolean suspicious;

	ProxyCheck(RedisLayout layout) {
		this.layout = layout;
	}

	@Override
	public boolean isDone(int slot) {
		return this.done;
	}

	@Override
	public boolean isDone() {
		return this.done;
	}

	@Override
	public Supplier<List<CheckStep>> ofSlot(int slot) {
		return this::next;
	}

	@Override
	public Supplier<List<CheckStep>> ofAll() {
		return this::next;
	}

	private synchronized List<CheckStep> next() {
		if (this.done) {
			return List.of();
		}
		if (Arrays.stream(this.servers).allMatch(Objects::nonNull)) {
			endRound();
		}
		if (this.done) {
			return List.of();
		}
		// The first one alone shows whether the server accepts keys of several slots.
		boolean begun = Arrays.stream(this.servers).anyMatch(Objects::nonNull);
		return IntStream.range(0, this.servers.length)
			.filter((bucket) -> begun ? this.servers[bucket] == null : bucket == 1)
			.mapToObj(this::step)
			.toList();
	}

	private void endRound() {
		Set<String> found = Arrays.stream(this.servers).map(Objects::requireNonNull).collect(Collectors.toSet());
		boolean refused = found.size() > 1 && this.suspicious;
		this.done = found.size() == 1;
		this.suspicious = !this.done && !refused;
		this.round++;
		Arrays.fill(this.servers, null);
		if (refused) {
			throw new LockConfigurationException(LockError.STORE_UNSUITABLE,
					"The Redis connection leads to a proxy that divides the keys among " + found.size()
							+ " servers: scripts for different keys were run by "
							+ found.stream().sorted().collect(Collectors.joining(", "))
							+ ". Such a proxy, like Twemproxy, cannot renew several locks at once",
					"Connect to one server, to sentinels or to a cluster without the proxy (spring.data.redis.*), or "
							+ "keep the locks in another store by distributed-lock.provider");
		}
	}

	/** The end of the key is random: a proxy may choose the server by all of it. */
	private CheckStep step(int bucket) {
		int asked = this.round;
		String key = new String(this.layout.lastOrder(bucket), StandardCharsets.UTF_8) + ":" + OwnerId.random().text();
		ScriptCall script = new ScriptCall(Script.SERVER, new byte[][] { RedisLayout.bytes(key), this.layout.format() },
				new byte[][] { RedisLayout.bytes("server") });
		return new CheckStep(script, () -> isMissing(asked, bucket), (reply) -> record(asked, bucket, server(reply)),
				this::accept);
	}

	/** Identifies a server, if need be by whether it has the key of the format. */
	private static String server(ScriptReply reply) {
		String runId = ServerInfo.of(reply, 0).runId();
		if (runId != null) {
			return "the server with run_id " + runId;
		}
		return (reply.number(2) == 1) ? "a server with the key of the format" : "a server without it";
	}

	private synchronized boolean isMissing(int asked, int bucket) {
		return !this.done && asked == this.round && this.servers[bucket] == null;
	}

	private synchronized void record(int asked, int bucket, String server) {
		if (asked == this.round) {
			this.servers[bucket] = server;
		}
	}

	private void accept(LockProviderException failure) {
		if (!RedisErrors.isCrossSlot(failure)) {
			throw failure;
		}
		this.done = true;
	}

}
