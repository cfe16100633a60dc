package io.distributedlock.redis.quorum;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.lettuce.core.RedisURI;

import io.distributedlock.FreePorts;
import io.distributedlock.redis.RedisServer;
import io.distributedlock.redis.TestClients;
import io.distributedlock.testkit.FrozenProcesses;

/** Independent servers, of which some may be down from the beginning. */
public final class QuorumServers implements AutoCloseable {

	private final List<RedisServer> servers;

	private final List<Integer> ports;

	/**
	 * Starts servers.
	 * @param running the number of servers that run
	 * @param down the number of addresses at which none listens
	 */
	public QuorumServers(int running, int down) {
		this.servers = IntStream.range(0, running).parallel().mapToObj((number) -> new RedisServer()).toList();
		this.ports = Stream
			.concat(this.servers.stream().map(RedisServer::port),
					IntStream.range(0, down).mapToObj((number) -> FreePorts.next()))
			.toList();
	}

	/** Three servers that all tests share. */
	public static QuorumServers three() {
		return Three.SERVERS;
	}

	/** Two servers that all tests share, of three: a majority needs both. */
	public static QuorumServers twoOfThree() {
		return TwoOfThree.SERVERS;
	}

	/** Five servers that all tests share. */
	public static QuorumServers five() {
		return Five.SERVERS;
	}

	/** Three servers that all tests share, of five: a majority needs all of them. */
	public static QuorumServers threeOfFive() {
		return ThreeOfFive.SERVERS;
	}

	/** The servers that were started. */
	List<RedisServer> servers() {
		return this.servers;
	}

	RedisServer server(int number) {
		return this.servers.get(number);
	}

	/** The ports of all addresses. */
	public List<Integer> ports() {
		return this.ports;
	}

	/** Kills a server. Its data is lost. */
	public void kill(int number) {
		server(number).kill();
	}

	/** Starts a killed server, empty and at the same port. */
	public void restart(int number) {
		server(number).start();
	}

	/** Stops the process of a server until the result is closed. */
	public AutoCloseable freeze(int number) {
		return FrozenProcesses.freeze(server(number).handle());
	}

	/** A provider of its own connections, which has waited for no restarted server. */
	RedisQuorumLockProvider provider(String prefix) {
		return provider(prefix, Duration.ofDays(1), Duration.ZERO);
	}

	RedisQuorumLockProvider provider(String prefix, Duration maxLease, Duration restartDelay) {
		return new RedisQuorumLockProvider(nodes(this.ports), new RedisQuorumSettings(prefix, maxLease), restartDelay,
				TestClients.resources());
	}

	/** The addresses of servers of this machine. */
	public static List<RedisQuorumNode> nodes(List<Integer> ports) {
		return new ArrayList<>(
				ports.stream().map((port) -> new RedisQuorumNode(RedisURI.create("127.0.0.1", port), null)).toList());
	}

	@Override
	public void close() {
		this.servers.forEach(RedisServer::close);
	}

	private static final class Three {

		private static final QuorumServers SERVERS = new QuorumServers(3, 0);

	}

	private static final class TwoOfThree {

		private static final QuorumServers SERVERS = new QuorumServers(2, 1);

	}

	private static final class Five {

		private static final QuorumServers SERVERS = new QuorumServers(5, 0);

	}

	private static final class ThreeOfFive {

		private static final QuorumServers SERVERS = new QuorumServers(3, 2);

	}

}
