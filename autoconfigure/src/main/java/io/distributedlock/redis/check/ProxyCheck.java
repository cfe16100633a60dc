package io.distributedlock.redis.check;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.redis.script.RedisErrors;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.redis.script.Script;
import io.distributedlock.redis.script.ScriptCall;
import io.distributedlock.redis.script.ScriptReply;

/**
 * The search for a proxy that hides several servers, where no property names one. One
 * that divides the keys among them, by the first key of a command, would run the renewal
 * of several locks on one server, which does not have them all.
 * <p>
 * A script for each bucket, whose second key is that of the format, asks which server
 * runs it. A proxy that refuses it with {@code CROSSSLOT} divides a renewal before it
 * sends it, and is accepted.
 */
public final class ProxyCheck implements TopologyCheck {

	private final RedisLayout layout;

	private final SameServerProbe probe = new SameServerProbe(RedisLayout.BUCKETS, this::script, ProxyCheck::server,
			ProxyCheck::refusal);

	public ProxyCheck(RedisLayout layout) {
		this.layout = layout;
	}

	@Override
	public boolean isDone(int slot) {
		return this.probe.isDone();
	}

	@Override
	public Supplier<List<CheckScript>> ofSlot(int slot) {
		return () -> this.probe.next(this::accept);
	}

	@Override
	public Supplier<List<CheckScript>> ofAll() {
		return () -> this.probe.next(this::accept);
	}

	/** The end of the key is random: a proxy may choose the server by all of it. */
	private ScriptCall script(int bucket) {
		String key = new String(this.layout.lastOrder(bucket), StandardCharsets.UTF_8) + ":" + OwnerId.random().text();
		return new ScriptCall(Script.SERVER, new byte[][] { RedisLayout.bytes(key), this.layout.format() },
				new byte[0][]);
	}

	/** Identifies a server, if need be by whether it has the key of the format. */
	private static String server(ScriptReply reply) {
		String runId = ServerInfo.of(reply, 0).runId();
		if (runId != null) {
			return "the server with run_id " + runId;
		}
		return (reply.number(2) == 1) ? "a server with the key of the format" : "a server without it";
	}

	private static LockConfigurationException refusal(Set<String> servers) {
		return new LockConfigurationException(LockError.STORE_UNSUITABLE,
				"The Redis connection leads to a proxy that divides the keys among " + servers.size()
						+ " servers: scripts for different keys were run by "
						+ servers.stream().sorted().collect(Collectors.joining(", "))
						+ ". The renewal of several locks at once would find only those on one server",
				"Connect to one server, to sentinels or to a cluster without the proxy (spring.data.redis.*). If the "
						+ "proxy is Twemproxy, configure it with hash_tag: \"{}\" and auto_eject_hosts: false, and "
						+ "confirm that by distributed-lock.redis.twemproxy=true. Or keep the locks "
						+ "in another store by distributed-lock.provider");
	}

	private void accept(LockProviderException failure) {
		if (!RedisErrors.isCrossSlot(failure)) {
			throw failure;
		}
		this.probe.end();
	}

}
