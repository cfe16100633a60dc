package io.distributedlock.zookeeper;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.zookeeper.ZooDefs;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.testkit.FrozenProcesses;
import io.distributedlock.testkit.StoreFaults.Fault;
import io.distributedlock.testkit.TcpProxy;
import io.distributedlock.testkit.WireFault.Effect;

import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests of an ensemble that is silent to many processes at a time.
 */
@Tag("full")
class ZooKeeperSilenceTests {

	private static final Duration SESSION = Duration.ofSeconds(40);

	private static final Duration LEASE = Duration.ofMinutes(5);

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private static final Duration CALL = Duration.ofSeconds(1);

	/** So long that a loaded machine makes a stall little longer. */
	private static final Duration STALL = Duration.ofSeconds(4);

	private static final int PROCESSES = 16;

	private final ZooKeeperServerProcess server = ZooKeeperServerProcess.shared();

	private final ZooKeeperFixture fixture = new ZooKeeperFixture(TestZooKeeper.connectString(), SESSION);

	private final AtomicInteger lostConnections = new AtomicInteger();

	@AfterEach
	void close() {
		this.fixture.close();
	}

	private ZooKeeperLockProvider newProcess(String servers, Duration call) {
		CuratorFramework client = this.fixture.client(servers);
		ZooKeeperLockProvider process = this.fixture.newProcess(client, List.of(), call);
		process.check(PATIENCE);
		client.getConnectionStateListenable().addListener((source, state) -> {
			if (state == ConnectionState.SUSPENDED) {
				this.lostConnections.incrementAndGet();
			}
		});
		return process;
	}

	private static boolean attempt(ZooKeeperLockProvider process, Duration timeout) {
		try {
			return resultOf(process.newContender(LockKey.of("silence", OwnerId.random().toString()), () -> {
				// Ignored: the test attempts by itself.
			}).attempt(OwnerId.random(), LEASE, false, timeout), timeout) instanceof AttemptResult.Granted;
		}
		catch (LockException ex) {
			return false;
		}
	}

	@Test
	@Timeout(value = 5, unit = TimeUnit.MINUTES)
	void stallOfOneCallDropsNotAllConnections() {
		List<ZooKeeperLockProvider> processes = new ArrayList<>();
		for (int number = 0; number < PROCESSES; number++) {
			processes.add(newProcess(TestZooKeeper.connectString(), STALL));
		}
		// A round on a slow machine may be so long that all connections are dropped.
		await().atMost(Duration.ofMinutes(4)).until(() -> someConnectionsOutlastAStall(processes));
	}

	private boolean someConnectionsOutlastAStall(List<ZooKeeperLockProvider> processes) {
		processes.forEach((process) -> await().atMost(PATIENCE).until(() -> attempt(process, PATIENCE)));
		this.lostConnections.set(0);
		long begun = System.nanoTime();
		try (Fault frozen = FrozenProcesses.freeze(this.server.handle())) {
			List<CompletableFuture<Boolean>> attempts = processes.stream()
				.map((process) -> CompletableFuture.supplyAsync(() -> attempt(process, STALL), (work) -> {
					Thread thread = new Thread(work, "test-thread-silence");
					thread.setDaemon(true);
					thread.start();
				}))
				.toList();
			assertThat(attempts).allSatisfy((attempt) -> assertThat(attempt.join()).isFalse());
			frozen.close();
		}
		boolean shortStall = System.nanoTime() - begun < STALL.toNanos() * 13 / 10;
		processes.forEach((process) -> await().atMost(PATIENCE).until(() -> attempt(process, PATIENCE)));
		return shortStall && this.lostConnections.get() < PROCESSES;
	}

	@Test
	void connectionsThatStaySilentAreReplacedMoreAndMoreRarely() {
		TcpProxy proxy = new TcpProxy(this.server.address());
		ZooKeeperLockProvider process = newProcess("127.0.0.1:" + proxy.port(), CALL);
		// Each connection is established, and answers nothing after that.
		proxy.onRequest(ZooKeeperSilenceTests::isRequest, Effect.BLACK_HOLE);
		long begun = System.nanoTime();
		await().pollInterval(Duration.ofMillis(1)).atMost(Duration.ofMinutes(1)).until(() -> {
			attempt(process, CALL.dividedBy(4));
			return System.nanoTime() - begun > CALL.toNanos() * 15;
		});
		// At least 0.9, 1.8, 3.6 and 7.2 seconds pass before the first four drops.
		assertThat(this.lostConnections).hasValueBetween(2, 4);
		proxy.close();
	}

	private static boolean isRequest(byte[] packet) {
		int kind = (packet.length >= 12) ? ByteBuffer.wrap(packet).getInt(8) : ZooDefs.OpCode.notification;
		return kind != ZooDefs.OpCode.notification && kind != ZooDefs.OpCode.ping;
	}

}
