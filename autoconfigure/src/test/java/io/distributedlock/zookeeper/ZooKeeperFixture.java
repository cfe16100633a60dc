package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import org.apache.curator.CuratorZookeeperClient;
import org.apache.curator.RetryLoop;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.BackgroundCallback;
import org.apache.curator.retry.RetryForever;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.testkit.LockProviderFixture;
import io.distributedlock.testkit.StoreFaults;
import io.distributedlock.zookeeper.session.LockPath;
import io.distributedlock.zookeeper.session.NodePaths;
import io.distributedlock.zookeeper.session.ZooKeeperLockSettings;

import static org.awaitility.Awaitility.await;

/**
 * Fixture with its own root in an ensemble; each process has its own client.
 */
final class ZooKeeperFixture implements LockProviderFixture {

	static final String PREFIX = "contract-kit";

	static final Duration SESSION = Duration.ofSeconds(30);

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private static final AtomicInteger ROOTS = new AtomicInteger();

	/** The processes, each with a timer of its own. */
	private final Map<ZooKeeperLockProvider, LockTimer> processes = new LinkedHashMap<>();

	private final List<CuratorFramework> clients = new ArrayList<>();

	private final ImpatientHosts.Handles handles = ImpatientHosts.handles();

	private final String servers;

	private final String root;

	private final Duration session;

	private final CuratorFramework admin;

	private @Nullable StoreFaults faults;

	/** Creates a fixture with a new root, which no other test uses. */
	ZooKeeperFixture(String servers, Duration session) {
		this(servers, session, "/locks-" + ROOTS.incrementAndGet());
	}

	ZooKeeperFixture(String servers, Duration session, String root) {
		ZooKeeperServerProcess.quiet();
		this.root = root;
		this.servers = servers;
		this.session = session;
		this.admin = client(servers);
	}

	static ZooKeeperFixture ofOneServer() {
		return new ZooKeeperFixture(TestZooKeeper.connectString(), SESSION, "/locks");
	}

	ZooKeeperFixture with(StoreFaults faults) {
		this.faults = faults;
		return this;
	}

	@Override
	public Optional<StoreFaults> faults() {
		return Optional.ofNullable(this.faults);
	}

	CuratorFramework client(String connect) {
		return client(connect, (builder) -> builder);
	}

	CuratorFramework client(String connect, UnaryOperator<CuratorFrameworkFactory.Builder> change) {
		CuratorFramework client = change
			.apply(CuratorFrameworkFactory.builder()
				.connectString(connect)
				.sessionTimeoutMs((int) this.session.toMillis())
				.connectionTimeoutMs(5000)
				.retryPolicy(new RetryForever(100))
				.maxCloseWaitMs(1)
				.zookeeperFactory(this.handles)
				.ensembleTracker(false)
				.waitForShutdownTimeoutMs(0))
			.build();
		client.start();
		this.clients.add(client);
		return client;
	}

	/** Creates a process that has a session. */
	@Override
	public ZooKeeperLockProvider newProcess() {
		ZooKeeperLockProvider process = newProcess(this.servers);
		process.check(PATIENCE);
		return process;
	}

	ZooKeeperLockProvider newProcess(String connect) {
		return newProcess(client(connect));
	}

	ZooKeeperLockProvider newProcess(CuratorFramework client) {
		return newProcess(client, List.of());
	}

	ZooKeeperLockProvider newProcess(CuratorFramework client, List<ACL> acl) {
		return newProcess(client, acl, Duration.ofSeconds(1));
	}

	synchronized ZooKeeperLockProvider newProcess(CuratorFramework client, List<ACL> acl, Duration longestSilence) {
		LockTimer timer = new LockTimer();
		ZooKeeperLockProvider process = new ZooKeeperLockProvider(client,
				new ZooKeeperLockSettings(this.root, PREFIX, acl, longestSilence), timer);
		this.processes.put(process, timer);
		return process;
	}

	/**
	 * Keeps the reservations that a process makes from now on, which it would end after
	 * 100 ms. As it sends no heartbeats either, its session is not relied upon for long.
	 */
	void keepReservationsOf(ZooKeeperLockProvider process) {
		timerOf(process).close();
	}

	LockTimer timerOf(ZooKeeperLockProvider process) {
		return this.processes.get(process);
	}

	String root() {
		return this.root;
	}

	CuratorFramework admin() {
		return this.admin;
	}

	LockPath path(LockKey key) {
		return new NodePaths(this.root, PREFIX).of(key);
	}

	Set<ZooKeeperLockProvider> processes() {
		return this.processes.keySet();
	}

	@Override
	public void expire(LockKey key) {
		String node = path(key).lockNode();
		call(() -> {
			try {
				// The shares alone, as by the end of their sessions.
				List<String> shares = this.admin.getChildren().forPath(node);
				for (String share : shares) {
					this.admin.delete().forPath(node + "/" + share);
				}
				return shares.isEmpty() ? this.admin.delete().forPath(node) : null;
			}
			catch (KeeperException.NoNodeException ex) {
				throw new AssertionError("The lock has ended before", ex);
			}
		});
		this.clients.stream()
			.filter((client) -> client.getZookeeperClient().isConnected())
			.forEach((client) -> call(() -> catchUp(client.getZookeeperClient().getZooKeeper(), node)));
	}

	/** Waits until the server of a client knows what other servers have told it. */
	private static boolean catchUp(ZooKeeper client, String node) throws InterruptedException {
		CountDownLatch synced = new CountDownLatch(1);
		client.sync(node, (result, path, context) -> synced.countDown(), null);
		return synced.await(5, TimeUnit.SECONDS);
	}

	@Override
	public long heldEntries() {
		call(() -> this.admin.sync().forPath(this.root));
		long entries = all(this.root + "/locks") - children(this.root + "/locks").size();
		List<String> level = List.of(this.root + "/queues");
		for (int depth = 0; depth < 3; depth++) {
			// At once: hundreds of reads after each other take seconds on a loaded
			// machine.
			level = level.stream().map(this::readChildren).toList().stream().flatMap(CompletableFuture::join).toList();
		}
		return entries + level.size();
	}

	private long all(String path) {
		CuratorZookeeperClient client = this.admin.getZookeeperClient();
		return call(() -> RetryLoop.callWithRetry(client, () -> {
			try {
				return (long) client.getZooKeeper().getAllChildrenNumber(path);
			}
			catch (KeeperException.NoNodeException ex) {
				return 0L;
			}
		}));
	}

	/** Reads the paths of a node's children, none if the node is missing. */
	private CompletableFuture<Stream<String>> readChildren(String path) {
		CompletableFuture<Stream<String>> end = new CompletableFuture<>();
		BackgroundCallback read = (client, event) -> end
			.complete(Stream.ofNullable(event.getChildren()).flatMap(List::stream).map((child) -> path + "/" + child));
		call(() -> this.admin.getChildren().inBackground(read).forPath(path));
		return end;
	}

	List<String> children(String path) {
		return call(() -> {
			try {
				return this.admin.getChildren().forPath(path);
			}
			catch (KeeperException.NoNodeException ex) {
				return List.of();
			}
		});
	}

	static <T> T call(Callable<T> call) {
		try {
			return call.call();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public Duration pollBound() {
		return Duration.ofSeconds(1);
	}

	@Override
	public boolean supportsMinHold() {
		return false;
	}

	@Override
	public boolean reportsRemaining() {
		return false;
	}

	@Override
	public void close() {
		if (this.faults != null) {
			call(() -> {
				this.faults.close();
				return true;
			});
		}
		this.processes.keySet().forEach(ZooKeeperLockProvider::close);
		this.clients.stream().map(ZooKeeperFixture::end).toList().forEach(CompletableFuture::join);
		this.handles.close();
		this.processes.values().forEach(LockTimer::close);
	}

	/**
	 * Ends a client and waits for the end of its session alone: afterwards it pauses for
	 * a while, for which no test has to wait.
	 */
	private static CompletableFuture<Void> end(CuratorFramework client) {
		Optional<ZooKeeper> connected = Optional.of(client.getZookeeperClient())
			.filter(CuratorZookeeperClient::isConnected)
			.map((present) -> call(present::getZooKeeper));
		CompletableFuture<Void> closed = CompletableFuture.runAsync(client::close, ZooKeeperFixture::inThread);
		return connected.map((handle) -> CompletableFuture.runAsync(
				() -> await().atMost(Duration.ofMinutes(1))
					.until(() -> closed.isDone() || handle.getState() == ZooKeeper.States.CLOSED),
				ZooKeeperFixture::inThread))
			.orElse(closed);
	}

	private static void inThread(Runnable work) {
		Thread thread = new Thread(work, "end-of-a-client");
		thread.setDaemon(true);
		thread.start();
	}

}
