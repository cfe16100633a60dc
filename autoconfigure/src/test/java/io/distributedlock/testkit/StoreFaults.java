package io.distributedlock.testkit;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

import io.distributedlock.LockKey;
import io.distributedlock.provider.LockProvider;

/**
 * What a {@link LockProviderFixture} can do to its store and to the way to it. Each of
 * these fails if it has no effect.
 */
public interface StoreFaults extends AutoCloseable {

	/** Where the store's servers listen. */
	List<InetSocketAddress> servers();

	/**
	 * A provider that plays a process of its own and reaches the store's servers by a
	 * proxy.
	 * @param proxy stands before the servers
	 * @return the provider, ended by the fixture
	 */
	LockProvider newProcess(TcpProxy proxy);

	/**
	 * Recognizes a command on the wire.
	 * @param command the command
	 * @param key the key it is about
	 * @return what holds for the packet by which the command takes effect
	 */
	Predicate<byte[]> packet(Command command, LockKey key);

	/** Stops the processes of all servers until closed. */
	Fault freeze();

	/** Holds the lock of a key's row in a transaction of somebody else until closed. */
	Fault lockEntry(LockKey key);

	/** Lets the store refuse whatever is written about a key until closed. */
	Fault refuseWrites(LockKey key);

	/**
	 * Recognizes how a client ends in the server what it has given up, if it can.
	 * @return what holds for such a packet, or nothing where there is none
	 */
	default Optional<Predicate<byte[]>> cancellation() {
		return Optional.empty();
	}

	/** Ends, in the server, all connections of the processes of this fixture. */
	void killConnections();

	/** Lets the last order of a key look as if given later than it was. */
	void advanceOrder(LockKey key, Duration by);

	/**
	 * How long a client may take to be connected again after its connection broke, by its
	 * own doing.
	 * @return the time, by which a lease has to be longer to survive that
	 */
	default Duration reconnectTime() {
		return Duration.ZERO;
	}

	@Override
	void close();

	/** What can be told apart on the wire. */
	enum Command {

		ACQUIRE, RENEWAL, RELEASE

	}

	/** Something that ends when it is closed. */
	interface Fault extends AutoCloseable {

		@Override
		void close();

	}

}
