package io.distributedlock.redis;

import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.provider.OwnerId;

/**
 * The check of the servers behind Twemproxy. First whether it keeps the keys of a bucket
 * together: scripts for many keys with one hash tag ask which server runs them. Then of
 * the server of each bucket, as of the primaries of a cluster.
 * <p>
 * Invariant: no attempt is sent before one server has run all scripts of one hash tag.
 */
final class TwemproxyCheck implements ServersCheck {

	/**
	 * So many keys are on one of two servers by chance once in two billion starts.
	 */
	static final int KEYS = 32;

	private final TwemproxyScriptExecutor executor;

	private final RedisLayout layout;

	private final ServersCheck servers;

	private final SameServerProbe hashTag = new SameServerProbe(KEYS, (number) -> script(), TwemproxyCheck::server,
			TwemproxyCheck::refusal);

	TwemproxyCheck(TwemproxyScriptExecutor executor, RedisLayout layout) {
		this.executor = executor;
		this.layout = layout;
		this.servers = new ClusterPrimariesCheck(executor, layout);
	}

	@Override
	public boolean isDone(int slot) {
		return this.hashTag.isDone() && this.servers.isDone(slot);
	}

	@Override
	public boolean isDone() {
		return this.hashTag.isDone() && this.servers.isDone();
	}

	@Override
	public Supplier<List<CheckStep>> ofSlot(int slot) {
		return afterHashTag(this.servers.ofSlot(slot));
	}

	@Override
	public Supplier<List<CheckStep>> ofAll() {
		return afterHashTag(this.servers.ofAll());
	}

	private Supplier<List<CheckStep>> afterHashTag(Supplier<List<CheckStep>> next) {
		return () -> {
			List<CheckStep> steps = this.hashTag.next((failure) -> {
				throw failure;
			});
			return steps.isEmpty() ? next.get().stream().map(this::recording).toList() : steps;
		};
	}

	/** A key with the hash tag of the format, whose server has just replied. */
	private ScriptCall script() {
		return new ScriptCall(Script.SERVER,
				new byte[][] { RedisLayout.bytes(this.layout.noKey(0) + OwnerId.random().text()) },
				new byte[][] { RedisLayout.bytes("server") });
	}

	private static String server(ScriptReply reply) {
		String runId = ServerInfo.of(reply, 0).runId();
		if (runId == null) {
			throw new LockConfigurationException(LockError.NOT_PERMITTED,
					"A Redis server behind Twemproxy does not reply to INFO, so that it is not known whether the "
							+ "proxy keeps the keys of a lock on one server",
					"Permit INFO for the user of the locks on each server");
		}
		return runId;
	}

	private static LockConfigurationException refusal(Set<String> servers) {
		return new LockConfigurationException(LockError.STORE_UNSUITABLE,
				"Twemproxy divides the keys of one lock among " + servers.size()
						+ " servers: scripts for keys with the same hash tag were run by the servers with run_id "
						+ servers.stream().sorted().collect(Collectors.joining(", ")),
				"Set hash_tag: \"{}\" for the pool in the configuration of Twemproxy, the same in each of its "
						+ "processes, and restart it");
	}

	private CheckStep recording(CheckStep step) {
		return new CheckStep(step.script(), step.needed(), (reply) -> {
			this.executor.recordServer(step.script(), ServerInfo.of(reply, 0).runId());
			step.onReply().accept(reply);
		}, step.onFailure());
	}

}
