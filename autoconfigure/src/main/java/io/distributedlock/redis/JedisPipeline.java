package io.distributedlock.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;

import io.distributedlock.provider.Deadline;

/**
 * Sends scripts on one connection of Jedis in one round trip, and with them one WAIT
 * where replicas have to acknowledge their writes: WAIT counts all earlier writes of its
 * connection. After scripts that wrote nothing it ends at once, unless an earlier write
 * is not acknowledged.
 */
final class JedisPipeline {

	private final ReplicaRequirement replicas;

	JedisPipeline(ReplicaRequirement replicas) {
		this.replicas = replicas;
	}

	/**
	 * Runs scripts. Ends at the deadline, since the caller does not wait longer.
	 * @return the outcomes in the order of the calls
	 * @throws RuntimeException if the connection fails, or nothing is sent
	 */
	List<ScriptOutcome> run(Connection connection, List<ScriptCall> calls, Deadline deadline, SendCheck check) {
		check.beginSend();
		int usualMillis = connection.getSoTimeout();
		long remainingMillis = Math.max(TimeUnit.NANOSECONDS.toMillis(deadline.remainingNanos()), 1);
		boolean shorter = usualMillis == 0 || remainingMillis < usualMillis;
		if (shorter) {
			connection.setSoTimeout((int) Math.min(remainingMillis, Integer.MAX_VALUE));
		}
		try {
			List<ScriptOutcome> outcomes = send(connection, calls, false, deadline, check);
			if (outcomes.stream().anyMatch(ScriptOutcome::isUnknownScript)) {
				check.beginSend();
				outcomes = sendTexts(connection, calls, outcomes, deadline, check);
			}
			if (outcomes.stream().anyMatch(ScriptOutcome::isReadOnly)) {
				// The pool closes it: another connection may lead to the present primary.
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

	/** Sends the texts of those scripts that the server does not know. */
	private List<ScriptOutcome> sendTexts(Connection connection, List<ScriptCall> calls, List<ScriptOutcome> outcomes,
			Deadline deadline, SendCheck check) {
		List<Integer> unknown = new ArrayList<>();
		for (int i = 0; i < calls.size(); i++) {
			if (outcomes.get(i).isUnknownScript()) {
				unknown.add(i);
			}
		}
		List<ScriptOutcome> repeated = send(connection, unknown.stream().map(calls::get).toList(), true, deadline,
				check);
		List<ScriptOutcome> all = new ArrayList<>(outcomes);
		for (int i = 0; i < repeated.size(); i++) {
			all.set(unknown.get(i), repeated.get(i));
		}
		return all;
	}

	private List<ScriptOutcome> send(Connection connection, List<ScriptCall> calls, boolean byText, Deadline deadline,
			SendCheck check) {
		for (ScriptCall call : calls) {
			connection.sendCommand(byText ? Command.EVAL : Command.EVALSHA, arguments(call, byText));
		}
		boolean replicated = this.replicas.isPresent() && calls.stream().anyMatch(ScriptCall::needsReplicas);
		if (replicated) {
			connection.sendCommand(Command.WAIT, RedisLayout.bytes(Integer.toString(this.replicas.count())),
					RedisLayout.bytes(Long.toString(this.replicas.timeoutMillis(deadline))));
		}
		List<Object> replies = connection.getMany(calls.size());
		if (replicated && calls.size() == 1 && replies.get(0) instanceof List<?> values
				&& !calls.get(0).hasGrantedOrRenewed(values)) {
			check.replied(new ScriptReply(values, true));
		}
		Object acknowledged = replicated ? connection.getMany(1).get(0) : null;
		List<ScriptOutcome> outcomes = new ArrayList<>(calls.size());
		for (int i = 0; i < calls.size(); i++) {
			outcomes.add(outcome(calls.get(i), replies.get(i), acknowledged));
		}
		return outcomes;
	}

	private ScriptOutcome outcome(ScriptCall call, Object reply, @Nullable Object acknowledged) {
		return (reply instanceof RuntimeException failure) ? ScriptOutcome.of(failure)
				: this.replicas.outcome(call, (List<?>) reply, acknowledged);
	}

	private static byte[][] arguments(ScriptCall call, boolean byText) {
		byte[][] keysAndArguments = call.keysAndArguments();
		byte[][] all = new byte[keysAndArguments.length + 2][];
		all[0] = byText ? call.script().text() : RedisLayout.bytes(call.script().digest());
		all[1] = RedisLayout.bytes(Integer.toString(call.keys().length));
		System.arraycopy(keysAndArguments, 0, all, 2, keysAndArguments.length);
		return all;
	}

}
