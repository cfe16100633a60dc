package io.distributedlock.chaos;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.function.IntUnaryOperator;

/** The servers of a chaos run, which the run has for itself. */
public interface ChaosStore extends AutoCloseable {

	/** Where the servers listen, also after a restart. */
	List<InetSocketAddress> addresses();

	/**
	 * Returns the properties of a client.
	 * @param ports gives the port by which the client reaches a server for its own port
	 */
	List<String> properties(IntUnaryOperator ports);

	/** The processes of the servers, which may have child processes. */
	List<ProcessHandle> servers();

	/** Whether a server can end and start with its data. */
	default boolean isRestartable() {
		return true;
	}

	/** Ends a server and starts it with its data, if that is possible. */
	default void restart(int server) throws IOException {
		throw new UnsupportedOperationException();
	}

	/** Whether the store has permits, and lets no reader pass a writer that waits. */
	default boolean isQueued() {
		return true;
	}

	/** Ends all connections, and returns how many they were, if they are counted. */
	long killConnections();

	/** Counts the entries of holders, waiters and reservations. */
	long heldEntries();

	/** Asks each server for something; throws any exception if one does not answer. */
	default void probe() {
		heldEntries();
	}

	/**
	 * Returns how long the store keeps the lock of a process that has died.
	 * @param lease the lease of the lock
	 */
	default Duration expiry(Duration lease) {
		return lease;
	}

	@Override
	void close() throws IOException;

}
