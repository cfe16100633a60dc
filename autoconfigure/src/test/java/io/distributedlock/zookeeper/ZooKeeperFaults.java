package io.distributedlock.zookeeper;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;

import io.distributedlock.LockKey;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.testkit.FrozenProcesses;
import io.distributedlock.testkit.StoreFaults;
import io.distributedlock.testkit.TcpProxy;
import io.distributedlock.zookeeper.session.NodePaths;

/**
 * Faults of ZooKeeper servers for the fault kit.
 */
final class ZooKeeperFaults implements StoreFaults {

	private final Supplier<List<ZooKeeperServerProcess>> servers;

	/** The leader, which numbers the transactions. */
	private final Supplier<ZooKeeperServerProcess> leader;

	private final ZooKeeperFixture fixture;

	private final List<Fault> open = new ArrayList<>();

	ZooKeeperFaults(ZooKeeperFixture fixture) {
		this(fixture, () -> List.of(ZooKeeperServerProcess.shared()), ZooKeeperServerProcess::shared);
	}

	ZooKeeperFaults(ZooKeeperFixture fixture, Supplier<List<ZooKeeperServerProcess>> servers,
			Supplier<ZooKeeperServerProcess> leader) {
		this.servers = servers;
		this.leader = leader;
		this.fixture = fixture;
	}

	@Override
	public List<InetSocketAddress> servers() {
		return this.servers.get().stream().map(ZooKeeperServerProcess::address).toList();
	}

	@Override
	public LockProvider newProcess(TcpProxy proxy) {
		return this.fixture.newProcess(this.servers.get()
			.stream()
			.map((server) -> "127.0.0.1:" + proxy.port(server.port()))
			.collect(Collectors.joining(",")));
	}

	@Override
	public Predicate<byte[]> packet(Command command, LockKey key) {
		byte[] lockNode = this.fixture.path(key).lockNode().getBytes(StandardCharsets.UTF_8);
		return (packet) -> {
			for (int at = find(packet, lockNode, 0); at >= 0; at = find(packet, lockNode, at + 1)) {
				if (kind(packet, at) == command) {
					return true;
				}
			}
			return false;
		};
	}

	/** Matches the read of a predecessor in the wait queue. */
	Predicate<byte[]> predecessorRead(LockKey key) {
		return request(ZooDefs.OpCode.getData, this.fixture.path(key).queue());
	}

	/**
	 * Matches the request that reserves a contended lock node.
	 */
	Predicate<byte[]> reservation(LockKey key) {
		return request(ZooDefs.OpCode.setData, this.fixture.path(key).lockNode());
	}

	private static Predicate<byte[]> request(int kind, String path) {
		byte[] text = path.getBytes(StandardCharsets.UTF_8);
		return (packet) -> {
			int at = find(packet, text, 0);
			return at >= 0 && number(packet, at - 8) == kind;
		};
	}

	private static int find(byte[] packet, byte[] text, int from) {
		for (int at = from; at + text.length <= packet.length; at++) {
			int length = 0;
			while (length < text.length && packet[at + length] == text[length]) {
				length++;
			}
			if (length == text.length) {
				return at;
			}
		}
		return -1;
	}

	/**
	 * Finds a request: the operation's code and the path's length precede the path; in a
	 * transaction five more bytes are between the two.
	 */
	private static Command kind(byte[] packet, int path) {
		int alone = number(packet, path - 8);
		int step = number(packet, path - 13);
		if (alone == ZooDefs.OpCode.create2 || step == ZooDefs.OpCode.create) {
			return Command.ACQUIRE;
		}
		if (alone == ZooDefs.OpCode.delete) {
			return Command.RELEASE;
		}
		return (step == ZooDefs.OpCode.getData) ? Command.RENEWAL : null;
	}

	private static int number(byte[] packet, int at) {
		return (at >= 0) ? ByteBuffer.wrap(packet).getInt(at) : -1;
	}

	@Override
	public Fault freeze() {
		return remember(FrozenProcesses
			.freeze(this.servers.get().stream().map(ZooKeeperServerProcess::handle).toArray(ProcessHandle[]::new)));
	}

	private Fault remember(Fault fault) {
		this.open.add(fault);
		return () -> {
			if (this.open.remove(fault)) {
				fault.close();
			}
		};
	}

	/** Denies reading and writing the lock node, but not the change of its ACL. */
	@Override
	public Fault lockEntry(LockKey key) {
		String lockNode = this.fixture.path(key).lockNode();
		setAcl(lockNode, new ACL(ZooDefs.Perms.ADMIN, ZooDefs.Ids.ANYONE_ID_UNSAFE));
		return remember(() -> {
			String bucket = NodePaths.parent(lockNode);
			if (this.fixture.children(bucket).contains(lockNode.substring(bucket.length() + 1))) {
				setAcl(lockNode, new ACL(ZooDefs.Perms.ALL, ZooDefs.Ids.ANYONE_ID_UNSAFE));
			}
		});
	}

	private void setAcl(String lockNode, ACL acl) {
		ZooKeeperFixture.call(() -> this.fixture.admin().setACL().withACL(List.of(acl)).forPath(lockNode));
	}

	@Override
	public Fault refuseWrites(LockKey key) {
		return lockEntry(key);
	}

	@Override
	public void killConnections() {
		this.servers.get().forEach(ZooKeeperServerProcess::killConnections);
	}

	@Override
	public void advanceOrder(LockKey key, Duration by) {
		this.leader.get().advance(by.toNanos() / 1000);
	}

	/** Returns more than the 100 ms that the client pauses before it reconnects. */
	@Override
	public Duration reconnectTime() {
		return Duration.ofMillis(150);
	}

	@Override
	public void close() {
		List.copyOf(this.open).forEach(Fault::close);
		this.open.clear();
	}

}
