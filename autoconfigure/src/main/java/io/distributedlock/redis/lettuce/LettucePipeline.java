package io.distributedlock.redis.lettuce;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;

import io.lettuce.core.RedisFuture;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.async.BaseRedisAsyncCommands;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;
import io.distributedlock.redis.script.RedisErrors;
import io.distributedlock.redis.script.ReplicaRequirement;
import io.distributedlock.redis.script.ScriptCall;
import io.distributedlock.redis.script.ScriptOutcome;
import io.distributedlock.redis.script.ScriptReply;
import io.distributedlock.redis.script.SendGuard;

/**
 * Sends scripts of one purpose on a connection of the pool in one round trip, and with
 * them one WAIT for each node where replicas have to acknowledge their writes.
 * <p>
 * WAIT counts all earlier writes of its own connection, and blocks that connection
 * meanwhile: on Lettuce's shared connection it would block the whole application. It
 * lasts as long as too few replicas acknowledge, even if the scripts wrote nothing: after
 * such a WAIT the next ones are sent after a grant or a renewal only.
 */
final class LettucePipeline {

	private final ReplicaRequirement replicas;

	private final DisconnectCounter disconnects;

	/**
	 * Whether too few replicas acknowledged the last WAIT: the next may take long too.
	 */
	private volatile boolean late;

	LettucePipeline(ReplicaRequirement replicas, DisconnectCounter disconnects) {
		this.replicas = replicas;
		this.disconnects = disconnects;
	}

	/** Whether replicas have to acknowledge a script. */
	boolean isReplicated(ScriptCall call) {
		return this.replicas.isPresent() && call.needsReplicas();
	}

	/**
	 * Runs scripts in the current thread, a worker.
	 * @return the outcomes in the order of the scripts
	 */
	List<ScriptOutcome> run(StatefulConnection<byte[], byte[]> connection, List<? extends Run> runs, CallKind kind,
			Deadline deadline) throws InterruptedException, TimeoutException {
		List<SentScript> all = new ArrayList<>(runs.size());
		for (Run run : runs) {
			ScriptCall call = run.call();
			// A script of a cluster's connection goes to the node of its key by itself.
			RedisClusterAsyncCommands<byte[], byte[]> node = isReplicated(call)
					? LettuceConnectionPool.node(connection, call.keys()[0], kind, deadline)
					: LettuceConnectionPool.commands(connection);
			all.add(new SentScript(call, run, node));
		}
		send(all, false, kind, deadline);
		List<SentScript> unknown = all.stream().filter((sent) -> sent.outcome.isUnknownScript()).toList();
		if (!unknown.isEmpty()) {
			send(unknown, true, kind, deadline);
		}
		return all.stream().map((sent) -> sent.outcome).toList();
	}

	private void send(List<SentScript> all, boolean byText, CallKind kind, Deadline deadline)
			throws InterruptedException {
		long disconnectsBefore = this.disconnects.count();
		Map<RedisClusterAsyncCommands<byte[], byte[]>, RedisFuture<Long>> waits = new LinkedHashMap<>();
		all.forEach((sent) -> sent.send(byText));
		boolean onlyWritten = this.late;
		for (SentScript sent : all) {
			if (sent.reply != null && isReplicated(sent.call) && (!onlyWritten || sent.hasWritten(kind, deadline))) {
				waits.computeIfAbsent(sent.node, (node) -> ((BaseRedisAsyncCommands<byte[], byte[]>) node)
					.waitForReplication(this.replicas.count(), this.replicas.timeoutMillis(deadline)));
			}
		}
		for (SentScript sent : all) {
			if (waits.containsKey(sent.node)) {
				sent.reportUnlessWritten(kind, deadline);
			}
			RedisFuture<Long> wait = waits.get(sent.node);
			Object acknowledged = (wait != null) ? sent.await(wait, kind, deadline) : null;
			if (wait != null) {
				this.late = !this.replicas.isMetBy(acknowledged);
			}
			if (acknowledged instanceof Long && this.disconnects.count() != disconnectsBefore) {
				// It may have counted a new connection, on which nothing was written.
				acknowledged = 0L;
			}
			sent.end(acknowledged, this.replicas, kind, deadline);
		}
	}

	/** A script that a worker runs, and its caller. */
	interface Run extends SendGuard {

		ScriptCall call();

		/**
		 * Receives the outcome, once; ignores it after an {@linkplain #onEarlyReply early
		 * reply}.
		 */
		void onOutcome(ScriptOutcome outcome);

	}

	/** A script that is sent, or was refused before that. */
	private static final class SentScript {

		private final ScriptCall call;

		private final SendGuard caller;

		private final RedisClusterAsyncCommands<byte[], byte[]> node;

		private @Nullable RedisFuture<List<Object>> reply;

		private ScriptOutcome outcome = ScriptOutcome.of(RedisErrors.notCalledInTime());

		private SentScript(ScriptCall call, SendGuard caller, RedisClusterAsyncCommands<byte[], byte[]> node) {
			this.call = call;
			this.caller = caller;
			this.node = node;
		}

		private void send(boolean byText) {
			this.reply = null;
			try {
				this.caller.beginSend();
				this.reply = byText ? LettuceCommands.sendText(this.node, this.call)
						: LettuceCommands.send(this.node, this.call);
			}
			catch (RuntimeException ex) {
				this.outcome = ScriptOutcome.of(ex);
			}
		}

		/**
		 * Whether the reply is a grant or a renewal, which replicas have to acknowledge.
		 */
		private boolean hasWritten(CallKind kind, Deadline deadline) throws InterruptedException {
			return this.reply != null && await(this.reply, kind, deadline) instanceof List<?> values
					&& this.call.hasGrantedOrRenewed(values);
		}

		/** Reports a reply that WAIT cannot change. */
		private void reportUnlessWritten(CallKind kind, Deadline deadline) throws InterruptedException {
			if (this.reply != null && await(this.reply, kind, deadline) instanceof List<?> values
					&& !this.call.hasGrantedOrRenewed(values)) {
				this.caller.onEarlyReply(new ScriptReply(values, true));
			}
		}

		/** Returns the value or the failure of a future. */
		private Object await(RedisFuture<?> future, CallKind kind, Deadline deadline) throws InterruptedException {
			try {
				return LettuceCommands.await(future, kind, deadline);
			}
			catch (TimeoutException ex) {
				return RedisErrors.timedOut(ex);
			}
			catch (RuntimeException ex) {
				return ex;
			}
		}

		private void end(@Nullable Object acknowledged, ReplicaRequirement replicas, CallKind kind, Deadline deadline)
				throws InterruptedException {
			if (this.reply == null) {
				return;
			}
			Object values = await(this.reply, kind, deadline);
			if (acknowledged instanceof LockProviderException timeout) {
				// The connection is still blocked.
				this.outcome = ScriptOutcome.of(timeout);
				return;
			}
			this.outcome = (values instanceof RuntimeException failure) ? ScriptOutcome.of(failure)
					: replicas.outcome(this.call, (List<?>) values, acknowledged);
		}

	}

}
