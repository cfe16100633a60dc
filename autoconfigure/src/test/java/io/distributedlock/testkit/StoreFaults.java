package io.distributedlock.testkit;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

import io.distributedlock.LockKey;
import io.distributedlock.provider.LockProvider;

/**
 * Faults of a store and of the network before it, for {@link LockProviderFaultContract}.
 * The author of a provider with a server implements it and returns it from
 * {@link LockProviderFixture#faults()}. A fault without an effect fails the test.
 */
public interface StoreFaults extends AutoCloseable {

	/**
	 * Returns the addresses of the store's servers.
	 * @return the addresses; each port occurs once
	 */
	List<InetSocketAddress> servers();

	/**
	 * Creates a provider that acts as a process of its own and reaches the store's
	 * servers only through a proxy.
	 * @param proxy the proxy; {@link TcpProxy#port(int)} maps each server's port
	 * @return the provider, which the fixture ends
	 */
	LockProvider newProcess(TcpProxy proxy);

	/**
	 * Recognizes a command on the wire.
	 * @param command the command
	 * @param key the key of the command
	 * @return a predicate that matches the bytes of the packet by which the store
	 * executes the command, and no other packet
	 */
	Predicate<byte[]> packet(Command command, LockKey key);

	/**
	 * Stops the processes of all servers.
	 * @return the fault; closing it resumes the processes
	 * @see FrozenProcesses
	 */
	Fault freeze();

	/**
	 * Blocks changes of a key's entry, as a foreign transaction does that locks its row.
	 * A store without such locks may refuse the changes instead.
	 * @param key a key that is held
	 * @return the fault; closing it allows changes again
	 */
	Fault lockEntry(LockKey key);

	/**
	 * Lets the store refuse each change of a key's entry with an error.
	 * @param key a key that is held
	 * @return the fault; closing it allows changes again
	 */
	Fault refuseWrites(LockKey key);

	/**
	 * Recognizes the packet by which a client cancels a command in the server.
	 * @return a predicate over the bytes of a packet, or empty where clients do not
	 * cancel commands
	 */
	default Optional<Predicate<byte[]>> cancellation() {
		return Optional.empty();
	}

	/** Ends all connections of this fixture's processes on the server's side. */
	void killConnections();

	/**
	 * Raises the last order of a key, as a store's clock does that was ahead.
	 * @param key a key that was granted before
	 * @param by the time by which the order is raised
	 */
	void advanceOrder(LockKey key, Duration by);

	/**
	 * Returns the longest time that a client needs to connect again by itself after its
	 * connection broke. The contract lengthens the leases that must survive it.
	 * @return the time; zero unless overridden
	 */
	default Duration reconnectTime() {
		return Duration.ZERO;
	}

	@Override
	void close();

	/** Command that {@link #packet} recognizes. */
	enum Command {

		/** Attempt to acquire a key. */
		ACQUIRE,
		/** Renewal of a batch that contains the key. */
		RENEWAL,
		/** Release of a key. */
		RELEASE

	}

	/** Fault that lasts until it is closed. */
	interface Fault extends AutoCloseable {

		@Override
		void close();

	}

}
