package io.distributedlock.zookeeper;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryForever;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.LossReason;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.testkit.FrozenProcesses;
import io.distributedlock.testkit.StoreFaults.Fault;
import io.distributedlock.zookeeper.session.Session;
import io.distributedlock.zookeeper.session.ZooKeeperLockSettings;

import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests of what follows an outage or a pause: no lock that is acquired afterwards is
 * lost, and locks are acquired again soon. Each case has a server and a client of its
 * own.
 */
@ExtendWith(OutputCaptureExtension.class)
class ZooKeeperOutageTests {

	private static final Duration LEASE = Duration.ofMinutes(5);

	private static final Duration CALL = Duration.ofSeconds(1);

	@TempDir
	private Path data;

	private final List<Case> cases = new ArrayList<>();

	@AfterEach
	void close() {
		this.cases.forEach(Case::close);
	}

	@Test
	void locksAcquiredAfterAPauseOfTheServerLast() {
		try {
			freeze(Duration.ofMillis(2500), Duration.ofSeconds(2), null).join();
		}
		catch (CompletionException ex) {
			// A machine that stalls ends a short session, a mistake each one.
			freeze(Duration.ofSeconds(10), Duration.ofSeconds(8), null).join();
		}
	}

	@Test
	@Tag("full")
	@Timeout(value = 5, unit = TimeUnit.MINUTES)
	void locksAcquiredAfterAnyOutageLast() {
		Duration timeout = Duration.ofSeconds(20);
		List<CompletableFuture<Void>> runs = new ArrayList<>();
		for (int seconds : new int[] { 8, 12, 16, 30 }) {
			runs.add(restart(timeout, Duration.ofSeconds(seconds)));
		}
		for (int seconds : new int[] { 8, 12, 16 }) {
			runs.add(freeze(timeout, Duration.ofSeconds(seconds), null));
			runs.add(freeze(timeout, Duration.ofSeconds(seconds), CALL));
			runs.add(freezeProcess(timeout, Duration.ofSeconds(seconds)));
		}
		CompletableFuture.allOf(runs.toArray(CompletableFuture<?>[]::new)).join();
	}

	@Test
	@Tag("full")
	void locksOfASessionThatOnlyTheClientHasEndedAreFreeAtOnce() {
		Duration timeout = Duration.ofSeconds(6);
		Case away = newCase(timeout, CALL);
		assertThat(away.acquire()).isTrue();
		Session session = away.provider.sessions().present();
		away.server.kill();
		await().atMost(Duration.ofMinutes(1)).until(session::hasEnded);
		away.start(away.server.port());
		await().atMost(Duration.ofMinutes(1)).until(() -> away.provider.sessions().present() != null);
		// The server keeps an abandoned session for its whole time-out.
		await().atMost(timeout.dividedBy(2)).until(() -> away.acquire(1));
	}

	@Test
	@Tag("full")
	void serverStartsAgainAfterTheEndOfAFullSessionBelowAChroot() {
		Case full = newCase(Duration.ofSeconds(20), CALL, "/a-chroot-of-thirty-nine-characters-more");
		fill(full.provider);
		full.client.close();
		full.server.kill();
		full.start(0);
		assertThat(full.server.statistic("zk_ephemerals_count")).isZero();
	}

	@Test
	@Tag("full")
	void callbackThatOccupiesTheThreadOfTheClientIsLogged(CapturedOutput output) throws Exception {
		Case shared = newCase(Duration.ofSeconds(4), null);
		CountDownLatch end = new CountDownLatch(1);
		shared.client.getZookeeperClient()
			.getZooKeeper()
			.exists("/", false, (code, path, context, stat) -> awaitEnd(end), null);
		await().atMost(Duration.ofSeconds(30))
			.until(() -> output.toString()
				.contains("ZooKeeperOutageTests.lambda$callbackThatOccupiesTheThreadOfTheClientIsLogged"));
		end.countDown();
		assertThat(output).contains("A callback or watcher of the ZooKeeper client has occupied its thread");
	}

	private static void awaitEnd(CountDownLatch end) {
		ZooKeeperFixture.call(() -> end.await(1, TimeUnit.MINUTES));
	}

	@Test
	@Tag("full")
	void lossOfALongLeaseWithItsSessionHasItsOwnReason() {
		Case away = newCase(Duration.ofSeconds(3), CALL);
		try (LockTemplate locks = new LockTemplate(away.provider, LockSettings.defaults(), away.timer, List.of(),
				List.of())) {
			LockLease lease = locks.acquire(LockRequest.of(LockKey.of("outage", "held")).withLease(LEASE));
			away.server.kill();
			await().atMost(Duration.ofSeconds(30)).until(() -> !lease.isHeld());
			assertThat(lease.lossReason()).isEqualTo(LossReason.SESSION_ENDED);
		}
	}

	/** Acquires as many locks as the session has room for. */
	private void fill(ZooKeeperLockProvider provider) {
		List<StoreCall<AttemptResult>> calls = new ArrayList<>();
		int granted = 0;
		try {
			while (true) {
				for (int i = 0; i < 500; i++) {
					calls.add(attempt(provider, LockKey.of("full", Integer.toString(granted + i))));
				}
				for (StoreCall<AttemptResult> call : calls) {
					assertThat(resultOf(call, Duration.ofSeconds(30))).isInstanceOf(AttemptResult.Granted.class);
					granted++;
				}
				calls.clear();
			}
		}
		catch (LockException ex) {
			assertThat(ex.error()).isEqualTo(LockError.SESSION_FULL);
		}
		assertThat(granted).isGreaterThan(5000);
	}

	private static StoreCall<AttemptResult> attempt(ZooKeeperLockProvider provider, LockKey key) {
		return provider.newContender(key, () -> {
			// Ignored: the key is not contended.
		}).attempt(OwnerId.random(), LEASE, false, Duration.ofSeconds(30));
	}

	private Case newCase(Duration timeout, Duration longestSilence) {
		return newCase(timeout, longestSilence, "");
	}

	private Case newCase(Duration timeout, Duration longestSilence, String chroot) {
		Path directory = this.data.resolve("case-" + this.cases.size());
		ZooKeeperServerProcess server = ZooKeeperServerProcess.onData(directory, 0, Duration.ofMinutes(1));
		String servers = "127.0.0.1:" + server.port();
		if (!chroot.isEmpty()) {
			ZooKeeperFixture.call(() -> {
				try (ZooKeeper operator = new ZooKeeper(servers, 10_000, null)) {
					return operator.create(chroot, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
				}
			});
		}
		Case next = new Case(server, directory, timeout, longestSilence, servers + chroot);
		this.cases.add(next);
		return next;
	}

	/** Freezes the server; without a longest silence the client is the application's. */
	private CompletableFuture<Void> freeze(Duration timeout, Duration pause, Duration longestSilence) {
		Case frozen = newCase(timeout, longestSilence);
		return frozen.run("server frozen for " + pause, () -> {
			Fault fault = FrozenProcesses.freeze(frozen.server.handle());
			frozen.pass(pause);
			fault.close();
		}, timeout.dividedBy(4));
	}

	private CompletableFuture<Void> restart(Duration timeout, Duration outage) {
		Case away = newCase(timeout, CALL);
		boolean longer = outage.compareTo(timeout) > 0;
		return away.run("server away for " + outage, () -> {
			away.server.kill();
			away.pass(outage);
			away.start(away.server.port());
		}, longer ? timeout : timeout.dividedBy(4));
	}

	/** Freezes a process that acquires locks, which is a JVM of its own. */
	private CompletableFuture<Void> freezeProcess(Duration timeout, Duration pause) {
		Case other = newCase(timeout, CALL);
		return CompletableFuture.runAsync(() -> ZooKeeperFixture.call(() -> {
			Process frozen = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
					"-XX:TieredStopAtLevel=1", "-Xmx128m", "-cp", System.getProperty("java.class.path"),
					FrozenMain.class.getName(), "127.0.0.1:" + other.server.port(), timeout.toString())
				.redirectError(Redirect.DISCARD)
				.start();
			Runtime.getRuntime().addShutdownHook(new Thread(frozen::destroyForcibly));
			assertThat(FrozenMain.answer(frozen)).isEqualTo("ready");
			Fault fault = FrozenProcesses.freeze(frozen.toHandle());
			other.pass(pause);
			fault.close();
			frozen.outputWriter().write("\n");
			frozen.outputWriter().flush();
			assertThat(FrozenMain.answer(frozen)).as("process frozen for " + pause).isEqualTo("done");
			return true;
		}), ZooKeeperOutageTests::inThread);
	}

	/** Process that is frozen before it acquires locks. */
	static final class FrozenMain {

		private FrozenMain() {
		}

		public static void main(String[] arguments) throws IOException {
			Duration timeout = Duration.parse(arguments[1]);
			Case frozen = new Case(null, null, timeout, CALL, arguments[0]);
			frozen.awaitOldProof();
			say("ready");
			System.in.read();
			try {
				frozen.acquireWhilePassing("frozen", timeout.dividedBy(4));
				say("done");
			}
			catch (AssertionError | RuntimeException ex) {
				say(ex.getMessage().lines().findFirst().orElse(""));
			}
			System.exit(0);
		}

		private static void say(String text) {
			System.out.println("> " + text);
		}

		private static String answer(Process process) {
			return process.inputReader()
				.lines()
				.filter((line) -> line.startsWith("> "))
				.findFirst()
				.map((line) -> line.substring(2))
				.orElse("ended");
		}

	}

	/** One server and one process that acquires locks. */
	private static final class Case {

		private final LockTimer timer = new LockTimer();

		private final AtomicInteger keys = new AtomicInteger();

		private final List<LockGrant> grants = new CopyOnWriteArrayList<>();

		private final Path data;

		private final Duration timeout;

		private final CuratorFramework client;

		private final ZooKeeperLockProvider provider;

		private volatile long lastGrantNanos;

		private ZooKeeperServerProcess server;

		private Case(ZooKeeperServerProcess server, Path data, Duration timeout, Duration longestSilence,
				String servers) {
			ZooKeeperServerProcess.quiet();
			this.server = server;
			this.data = data;
			this.timeout = timeout;
			this.client = CuratorFrameworkFactory.builder()
				.connectString(servers)
				.sessionTimeoutMs((int) timeout.toMillis())
				.retryPolicy(new RetryForever(100))
				.ensembleTracker(false)
				.waitForShutdownTimeoutMs(0)
				.build();
			if (longestSilence == null) {
				this.client.start();
			}
			this.provider = new ZooKeeperLockProvider(this.client,
					new ZooKeeperLockSettings("/locks", "outage", List.of(), longestSilence), this.timer);
			this.provider.check(Duration.ofSeconds(30));
		}

		private void start(int port) {
			this.server = ZooKeeperServerProcess.onData(this.data, port, Duration.ofMinutes(1));
		}

		private CompletableFuture<Void> run(String as, Runnable outage, Duration limit) {
			return CompletableFuture.runAsync(() -> {
				awaitOldProof();
				outage.run();
				acquireWhilePassing(as, limit);
			}, ZooKeeperOutageTests::inThread);
		}

		/** Waits until the proof of the session is nearly as old as it ever is. */
		private void awaitOldProof() {
			Session session = this.provider.sessions().present();
			pass(this.timeout.dividedBy(2));
			long before = session.until();
			await().atMost(this.timeout).pollInterval(Duration.ofMillis(1)).until(() -> session.until() != before);
			pass(this.timeout.dividedBy(5));
		}

		private void pass(Duration time) {
			await().pollDelay(time).pollInterval(Duration.ofMillis(1)).atMost(time.plusSeconds(30)).until(() -> true);
		}

		/**
		 * Acquires locks until the session was proven often: one often enough, and none
		 * of them may be lost.
		 */
		private void acquireWhilePassing(String as, Duration limit) {
			long back = System.nanoTime();
			long slackNanos = this.timeout.toNanos() / 10 + Duration.ofSeconds(1).toNanos();
			long endNanos = back + this.timeout.toNanos() + limit.toNanos();
			this.lastGrantNanos = back;
			CompletableFuture<Void> acquired = CompletableFuture.runAsync(() -> acquireUntil(endNanos),
					ZooKeeperOutageTests::inThread);
			while (!acquired.isDone()) {
				pass(Duration.ofMillis(10));
				if (!this.client.getZookeeperClient().isConnected()) {
					this.lastGrantNanos = System.nanoTime();
				}
				assertThat(this.grants).as(as)
					.allMatch((grant) -> grant.sessionDeadline().until() - System.nanoTime() > 0);
				assertThat(Duration.ofNanos(System.nanoTime() - this.lastGrantNanos)).as(as + ": without a grant")
					.isLessThan(limit.plusNanos(slackNanos));
			}
			acquired.join();
			assertThat(this.grants).as(as).isNotEmpty();
		}

		private void acquireUntil(long endNanos) {
			while (System.nanoTime() - endNanos < 0) {
				if (acquire()) {
					this.lastGrantNanos = System.nanoTime();
				}
				pass(this.timeout.dividedBy(100));
			}
		}

		private boolean acquire() {
			return acquire(this.keys.incrementAndGet());
		}

		private boolean acquire(int number) {
			StoreCall<AttemptResult> call = attempt(this.provider, LockKey.of("outage", Integer.toString(number)));
			try {
				if (resultOf(call, CALL) instanceof AttemptResult.Granted granted) {
					this.grants.add(granted.grant());
					return true;
				}
			}
			catch (LockException ex) {
				assertThat(ex.error()).as(ex.getMessage()).isNotNull();
			}
			return false;
		}

		private void close() {
			this.provider.close();
			this.client.close();
			this.timer.close();
			this.server.kill();
		}

	}

	private static void inThread(Runnable work) {
		Thread thread = new Thread(work, "outage");
		thread.setDaemon(true);
		thread.start();
	}

}
