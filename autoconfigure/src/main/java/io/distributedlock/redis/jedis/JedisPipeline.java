package io.distributedlock.redis.jedis;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;

import io.distributedlock.provider.Deadline;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.redis.script.ReplicaRequirement;
import io.distributedlock.redis.script.ScriptCall;
import io.distributedlock.redis.script.ScriptOutcome;
import io.distributedlock.redis.script.ScriptReply;
import io.distributedlock.redis.script.SendGuard;

/**
 * Sends scripts on one connection of Jedis in one round trip, and with them one WAIT
 * where replicas have to acknowledge their writes: WAIT counts all earlier writes of its
 * connection. It lasts as long as too few replicas acknowledge them, even if the scripts
 * wrote nothing: after such a WAIT the next ones are sent after a grant or a renewal
 * only.
 */
final class JedisPipeline {

	private final ReplicaRequirement replicas;

	/**
	 * Whether too few replicas acknowledged the last WAIT: the next may take long too.
	 */
	private volatile boolean late;

	JedisPipeline(ReplicaRequirement replicas) {
		this.replicas = replicas;
	}

	/**
	 * Runs scripts. Ends at the deadline, since the caller does not wait longer.
	 * @return the outcomes in the order of the calls
	 * @throws RuntimeException if the connection fails, or nothing is sent
	 */
	List<ScriptOutcome> run(Connection connection, List<ScriptCall> calls, Deadline deadline, SendGuard caller) {
		caller.beginSend();
		int usualMillis = connection.getSoTimeout();
		long remainingMillis = Math.max(TimeUnit.NANOSECONDS.toMillis(deadline.remainingNanos()), 1);
		boolean shorter = usualMillis == 0 || remainingMillis < usualMillis;
		if (shorter) {
			connection.setSoTimeout((int) Math.min(remainingMillis, Integer.MAX_VALUE));
		}
		try {
			List<ScriptOutcome> outcomes = send(connection, calls, false, deadline, caller);
			for (int i = 0; i < calls.size(); i++) {
				if (outcomes.get(i).isUnknownScript()) {
					caller.beginSend();
					outcomes.set(i, send(connection, List.of(calls.get(i)), true, deadline, caller).get(0));
				}
			}
			if (outcomes.stream().anyMatch(ScriptOutcome::isReadOnly)) {
				// The pool closes it: another connection may lead to the present master.
				connection.setBroken();
			}
			return outcomes;
		}
		finally {
			if (shorter && !connection.isBroken()) {
				connection.setSoTimeout(usualMillis);
			}
		}
	}

	private List<ScriptOutcome> send(Connection connection, List<ScriptCall> calls, boolean byText, Deadline deadline,
			SendGuard caller) {
		for (ScriptCall call : calls) {
			connection.sendCommand(byText ? Command.EVAL : Command.EVALSHA, arguments(call, byText));
		}
		boolean replicated = this.replicas.isPresent() && calls.stream().anyMatch(ScriptCall::needsReplicas);
		boolean waits = replicated && !this.late;
		if (waits) {
			sendWait(connection, deadline);
		}
		List<Object> replies = new ArrayList<>(connection.getMany(calls.size()));
		replies.replaceAll((reply) -> (reply instanceof RuntimeException) ? reply : ScriptReply.values(reply));
		boolean written = false;
		for (int i = 0; i < calls.size(); i++) {
			written |= replies.get(i) instanceof List<?> values && calls.get(i).hasGrantedOrRenewed(values);
		}
		if (replicated && !written && calls.size() == 1 && replies.get(0) instanceof List<?> values) {
			caller.onEarlyReply(new ScriptReply(values, true));
		}
		if (replicated && !waits && written) {
			waits = true;
			sendWait(connection, deadline);
		}
		Object acknowledged = null;
		if (waits) {
			acknowledged = connection.getMany(1).get(0);
			this.late = !this.replicas.isMetBy(acknowledged);
		}
		List<ScriptOutcome> outcomes = new ArrayList<>(calls.size());
		for (int i = 0; i < calls.size(); i++) {
			outcomes.add(outcome(calls.get(i), replies.get(i), acknowledged));
		}
		return outcomes;
	}

	private void sendWait(Connection connection, Deadline deadline) {
		connection.sendCommand(Command.WAIT, RedisLayout.bytes(Integer.toString(this.replicas.count())),
				RedisLayout.bytes(Long.toString(this.replicas.timeoutMillis(deadline))));
	}

	private ScriptOutcome outcome(ScriptCall call, Object reply, @Nullable Object acknowledged) {
		return (reply instanceof RuntimeException failure) ? ScriptOutcome.of(failure)
				: this.replicas.outcome(call, (List<?>) reply, acknowledged);
	}

	private static byte[][] arguments(ScriptCall call, boolean byText) {
		byte[][] keysAndArguments = call.keysAndArguments();
		byte[][] all = new byte[keysAndArguments.length + 2][];
		all[0] = byText ? call.script().text() : call.script().encodedDigest();
		all[1] = RedisLayout.bytes(Integer.toString(call.keys().length));
		System.arraycopy(keysAndArguments, 0, all, 2, keysAndArguments.length);
		return all;
	}

}
