package io.distributedlock.redis.script;

import java.util.List;
import java.util.OptionalLong;

import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.AnsweredStoreCall;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.StoreCall;

/**
 * Executor of scripts on the server through one of the Redis clients. Repeats a run while
 * the server replies that it cannot serve it yet, and translates errors.
 */
public interface ScriptExecutor extends AutoCloseable {

	/**
	 * Whether {@link #run} waits for the end of the run. If not, it never waits, and may
	 * be called on an event loop.
	 */
	boolean isBlocking();

	/**
	 * Runs a script. Never throws: a failure ends the operation.
	 * @param call the script with its keys and arguments
	 * @param kind the purpose of the run
	 * @param deadline the end of a run that blocks; otherwise the operation is abandoned
	 * then, and nothing is repeated after it
	 * @param operation what follows the reply
	 */
	void run(ScriptCall call, CallKind kind, Deadline deadline, ReplyHandler<?> operation);

	/**
	 * Runs scripts. Those for one node share a connection if they wait for a worker.
	 * Never throws: a failure ends the operation of its script.
	 * @param runs the scripts, and what follows the reply of each
	 * @param kind the purpose of all runs
	 * @param deadline the end of all runs
	 */
	default void runAll(List<ScriptSubmission> runs, CallKind kind, Deadline deadline) {
		runs.forEach((one) -> run(one.call(), kind, deadline, one.operation()));
	}

	/**
	 * Returns the slot of a key in a cluster.
	 * @return the slot, 0 if the client does not know of a cluster
	 */
	int slot(byte[] key);

	/**
	 * Identifies the master of a slot, if the client knows it without asking a server.
	 * @return the node, compared by {@code equals}; {@code null} if it is not known, or
	 * the client does not know of a cluster
	 */
	@Nullable Object node(int slot);

	/**
	 * Identifies the client that makes connections now. It is another one after the
	 * application has stopped and started its connection factory, which closes all
	 * connections of the former client.
	 * @return the client, or {@code null} while the factory is stopped
	 */
	@Nullable Object client();

	/**
	 * Returns how many connections broke, as far as the client tells of that.
	 * @return the number, which has risen when a later connection sends a script
	 */
	default OptionalLong disconnects() {
		return OptionalLong.empty();
	}

	/**
	 * Confirms the reply of a server that it does not have a lock.
	 * @param lock the key of the lock
	 * @param deadline the end of a confirmation that asks
	 * @return the confirmation, which fails with a {@code LockException} if another
	 * server may have the lock
	 */
	default StoreCall<Boolean> confirmNotHeld(byte[] lock, Deadline deadline) {
		return AnsweredStoreCall.of(true);
	}

	/** Ends the calls that are under way, and rejects further ones. */
	@Override
	void close();

}
