package io.distributedlock.chaos;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** A server of a chaos run, which the run has for itself. */
public interface ChaosStore extends AutoCloseable {

	/** Where it listens, also after a restart. */
	InetSocketAddress address();

	/**
	 * Returns the properties of a client.
	 * @param port the port by which the client reaches the server
	 */
	List<String> properties(int port);

	/** The process of the server, which may have child processes. */
	ProcessHandle server();

	/** Returns what ends the server and starts it with its data, if that is possible. */
	default Optional<Runnable> restart() {
		return Optional.empty();
	}

	/** Ends all connections, and returns how many they were, if they are counted. */
	long killConnections();

	/** Counts the entries of holders, waiters and reservations. */
	long heldEntries();

	/** Asks the server for something; throws any exception if it does not answer. */
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
	void close();

}
