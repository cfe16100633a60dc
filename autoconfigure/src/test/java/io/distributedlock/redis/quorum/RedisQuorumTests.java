package io.distributedlock.redis.quorum;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.RedisURI;
import org.assertj.core.api.ThrowableAssert;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Jedis;

import org.springframework.util.StringUtils;

import io.distributedlock.FreePorts;
import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.actuate.LockHealthIndicator;
import io.distributedlock.actuate.ManagedProvider;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.redis.RedisProcesses;
import io.distributedlock.redis.RedisServer;
import io.distributedlock.redis.TestClients;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.redis.script.RedisLockKeys;
import io.distributedlock.redis.script.ScriptCall;
import io.distributedlock.redis.script.ScriptReply;
import io.distributedlock.testkit.FrozenProcesses;
import io.distributedlock.testkit.StoreCalls;
import io.distributedlock.testkit.TimeBounds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

/** Nodes of a quorum that are down, frozen, or unsuitable. */
@Tag("full")
class RedisQuorumTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final Duration CALL_TIMEOUT = Duration.ofSeconds(1);

	/** Half of the lease, at whose end a lock would be free by itself. */
	private static final Duration WITHIN_LEASE = RedisProcesses.LEASE.dividedBy(2);

	private static final String PREFIX = "quorum";

	private static final RedisLayout LAYOUT = new RedisLayout(PREFIX);

	private static final LockKey KEY = LockKey.of("orders", "42");

	@RegisterExtension
	private final RedisProcesses processes = new RedisProcesses();

	private QuorumServers servers(int running) {
		return this.processes.closing(new QuorumServers(running, 0));
	}

	private RedisQuorumLockProvider provider(QuorumServers servers) {
		RedisQuorumLockProvider provider = this.processes.closing(servers.provider(PREFIX));
		provider.check(PATIENCE);
		return provider;
	}

	private LockTemplate locks(RedisQuorumLockProvider provider) {
		return this.processes.locks(provider, LockSettings.defaults().withCallTimeout(CALL_TIMEOUT));
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void minorityMayBeDownAndAMajorityMayNot(boolean frozen) throws Exception {
		QuorumServers servers = servers(5);
		LockTemplate locks = locks(provider(servers));
		LockRequest request = LockRequest.of(KEY).withWaitTime(PATIENCE);
		LockLease held = locks.acquire(LockRequest.of(LockKey.of("kept")).withLease(Duration.ofSeconds(3)));
		for (int down = 1; down <= 2; down++) {
			disturb(servers.server(down), frozen);
			for (int round = 0; round < 3; round++) {
				try (LockLease lease = locks.acquire(request)) {
					lease.ensureHeld();
				}
			}
		}
		await().during(Duration.ofSeconds(4)).atMost(PATIENCE).until(held::isHeld);
		disturb(servers.server(3), frozen);
		for (Duration wait : List.of(Duration.ZERO, Duration.ofSeconds(2))) {
			long begin = System.nanoTime();
			assertThatExceptionOfType(LockProviderException.class)
				.isThrownBy(() -> locks.acquire(request.withWaitTime(wait)))
				.satisfies((ex) -> assertThat(ex.error()).isIn(LockError.STORE_FAILED, LockError.STORE_TIMEOUT));
			Duration longest = (wait.compareTo(CALL_TIMEOUT) > 0) ? wait : CALL_TIMEOUT;
			assertThat(Duration.ofNanos(System.nanoTime() - begin))
				.isLessThanOrEqualTo(longest.plus(TimeBounds.withLoad(250)));
		}
		await().atMost(PATIENCE).until(() -> !held.isHeld());
		for (int number = 1; number <= 3; number++) {
			mend(servers.server(number), frozen);
		}
		RedisProcesses.acquireAgain(locks, request).close();
		awaitEmpty(servers);
	}

	private static void disturb(RedisServer server, boolean frozen) {
		if (frozen) {
			signal(server, "-STOP");
		}
		else {
			server.kill();
		}
	}

	private static void mend(RedisServer server, boolean frozen) {
		if (frozen) {
			signal(server, "-CONT");
		}
		else {
			server.start();
		}
	}

	private static void signal(RedisServer server, String signal) {
		try {
			Process kill = new ProcessBuilder("kill", signal, Long.toString(server.handle().pid())).start();
			assertThat(kill.waitFor(10, TimeUnit.SECONDS)).isTrue();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void awaitEmpty(QuorumServers servers) {
		await().atMost(PATIENCE).untilAsserted(() -> {
			for (RedisServer server : servers.servers()) {
				try (Jedis admin = server.admin()) {
					assertThat(admin.keys("{" + PREFIX + ":b??}:lock:*")).isEmpty();
				}
			}
		});
	}

	@Test
	void attemptWithoutAMajorityReleasesItsPartOnEveryNode() {
		QuorumServers servers = servers(3);
		RedisQuorumLockProvider provider = provider(servers);
		byte[] lock = LAYOUT.lock(KEY);
		String foreign = "f".repeat(32) + "H" + "1".repeat(16) + "1".repeat(10) + "000";
		for (int number = 0; number < 2; number++) {
			try (Jedis admin = servers.server(number).admin()) {
				admin.set(lock, RedisLayout.bytes(foreign));
			}
		}
		assertThat(RedisProcesses.attempt(provider, KEY)).isInstanceOf(AttemptResult.Busy.class);
		try (Jedis admin = servers.server(2).admin()) {
			await().atMost(WITHIN_LEASE).until(() -> !admin.exists(lock));
		}
		provider.quorum().nodes().forEach((node) -> await().until(() -> provider.quorum().pending(node).size() == 0));
	}

	@Test
	void releaseReachesANodeThatWasFrozen() throws Exception {
		QuorumServers servers = servers(3);
		RedisQuorumLockProvider provider = provider(servers);
		byte[] lock = LAYOUT.lock(KEY);
		LockGrant grant = RedisProcesses.acquire(provider, KEY);
		try (Jedis admin = servers.server(0).admin()) {
			await().atMost(PATIENCE).until(() -> admin.exists(lock));
			try (FrozenProcesses frozen = FrozenProcesses.freeze(servers.server(0).handle())) {
				assertThat(RedisProcesses.release(provider, grant)).isEqualTo(ReleaseOutcome.RELEASED);
				RedisProcesses.acquire(provider, LockKey.of("another"));
			}
			await().atMost(WITHIN_LEASE).until(() -> !admin.exists(lock));
		}
	}

	@Test
	void grantIsOnTheNodesAsOneOfASingleServer() {
		QuorumServers servers = servers(3);
		RedisQuorumLockProvider provider = provider(servers);
		LockGrant grant = RedisProcesses.acquire(provider, KEY);
		for (RedisServer server : servers.servers()) {
			try (Jedis admin = server.admin()) {
				await().atMost(PATIENCE).until(() -> admin.exists(LAYOUT.lock(KEY)));
				assertThat(admin.get(new String(LAYOUT.lock(KEY)))).startsWith(grant.owner().text() + "H");
			}
		}
		assertThat(provider.find(KEY, PATIENCE)).hasValueSatisfying((found) -> {
			assertThat(found.owner()).isEqualTo(grant.owner());
			assertThat(provider.forceRelease(KEY, found, PATIENCE)).isEqualTo(ReleaseOutcome.RELEASED);
		});
		assertThat(provider.find(KEY, PATIENCE)).isEmpty();
	}

	@Test
	void orderIsAboveThatOfTheOneNodeThatIsAhead() {
		QuorumServers servers = servers(3);
		RedisQuorumLockProvider provider = provider(servers);
		byte[] lastOrder = LAYOUT.keys(KEY).lastOrder();
		LockGrant first = RedisProcesses.acquire(provider, KEY);
		RedisProcesses.release(provider, first);
		try (Jedis admin = servers.server(2).admin()) {
			admin.zincrby(lastOrder, 3_600_000_000d, RedisLayout.bytes(RedisLayout.ORDER_MEMBER));
		}
		long last = first.order();
		for (int round = 0; round < 30; round++) {
			LockGrant grant = RedisProcesses.acquire(provider, KEY);
			assertThat(grant.order()).isGreaterThan(last);
			long known = servers.servers().stream().filter((server) -> {
				try (Jedis admin = server.admin()) {
					// The slowest node may not have been reached yet.
					Double order = admin.zscore(lastOrder, RedisLayout.bytes(RedisLayout.ORDER_MEMBER));
					return order != null && order >= grant.order();
				}
			}).count();
			assertThat(known).as("nodes that know the order of the grant").isGreaterThanOrEqualTo(2);
			last = grant.order();
			RedisProcesses.release(provider, grant);
		}
	}

	@Test
	void healthShowsEachNode() {
		QuorumServers servers = servers(3);
		RedisQuorumLockProvider provider = provider(servers);
		LockHealthIndicator indicator = new LockHealthIndicator(
				new ManagedProvider("redis", provider, locks(provider), null), CALL_TIMEOUT);
		servers.server(1).kill();
		await().atMost(PATIENCE)
			.until(() -> indicator.health().getDetails().get("nodes").toString().contains("Connection refused"));
		await().until(() -> indicator.health().getStatus().getCode().equals("UP"));
		await().untilAsserted(() -> assertThat(indicator.health().getDetails().get("nodes").toString())
			.contains("127.0.0.1:" + servers.server(0).port() + "=up")
			.contains("127.0.0.1:" + servers.server(1).port() + "=down: cannot be reached"));
		servers.server(2).kill();
		await().atMost(PATIENCE).until(() -> indicator.health().getStatus().getCode().equals("DOWN"));
	}

	/**
	 * In the middle of a connection to a server that does not answer, and of releases.
	 */
	@Test
	void closedProviderEndsAllOfItsThreads() throws Exception {
		QuorumServers servers = servers(3);
		Set<Thread> before = Set.copyOf(threads());
		RedisQuorumLockProvider provider = this.processes.closing(new RedisQuorumLockProvider(
				QuorumServers.nodes(servers.ports()), new RedisQuorumSettings(PREFIX, Duration.ofSeconds(1))));
		try (AutoCloseable frozen = servers.freeze(2)) {
			probe(provider);
			Quorum quorum = provider.quorum();
			quorum.nodes()
				.forEach((node) -> quorum.pending(node)
					.add(quorum.release(LAYOUT.keys(KEY), OwnerId.random()), null, Duration.ofSeconds(1)));
			assertThat(threads()).extracting(Thread::getName)
				.anyMatch((name) -> name.startsWith("distributed-lock-redis-timer"))
				.anyMatch((name) -> name.startsWith("distributed-lock-redis-quorum"));
			provider.close();
			await().atMost(PATIENCE).until(() -> before.containsAll(threads()));
		}
	}

	private static List<Thread> threads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().startsWith("distributed-lock-redis-"))
			.toList();
	}

	@Test
	void nodesThatAreNotIndependentAreRefused() {
		QuorumServers servers = servers(3);
		try (Jedis admin = servers.server(2).admin()) {
			RedisServer replica = this.processes
				.closing(new RedisServer("--replicaof", "127.0.0.1 " + servers.server(2).port()));
			await().atMost(PATIENCE).until(() -> admin.info("replication").contains("connected_slaves:1"));
			assertRefused(servers.ports(), LockError.STORE_UNSUITABLE, "has 1 replica(s)");
			assertRefused(List.of(servers.server(0).port(), servers.server(1).port(), replica.port()),
					LockError.STORE_UNSUITABLE, "is a replica");
		}
		RedisServer cluster = this.processes.closing(new RedisServer("--cluster-enabled", "yes"));
		assertRefused(List.of(servers.server(0).port(), servers.server(1).port(), cluster.port()),
				LockError.STORE_UNSUITABLE, "is a node of a Redis Cluster");
	}

	private void assertRefused(List<Integer> ports, LockError error, String problem) {
		RedisQuorumLockProvider provider = this.processes
			.closing(new RedisQuorumLockProvider(QuorumServers.nodes(ports),
					new RedisQuorumSettings(PREFIX, Duration.ofDays(1)), Duration.ZERO, TestClients.resources()));
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> provider.check(PATIENCE))
			.withMessageContaining(problem)
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(error));
	}

	@Test
	void anotherLongestLeaseIsRefused() {
		QuorumServers servers = servers(3);
		provider(servers);
		RedisQuorumLockProvider other = this.processes
			.closing(servers.provider(PREFIX, Duration.ofMinutes(5), Duration.ZERO));
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> other.check(PATIENCE))
			.withMessageContaining("is used with a distributed-lock.redis.quorum.max-lease of 86400000 ms")
			.withMessageContaining("this process has 300000 ms")
			.satisfies((ex) -> assertThat(servers.ports()).filteredOn((port) -> isNamed(ex, port)).hasSize(1));
		assertThatExceptionOfType(LockProviderException.class)
			.isThrownBy(() -> locks(other).acquire(LockRequest.of(KEY)))
			.withMessageContaining("max-lease")
			.satisfies((ex) -> assertThat(servers.ports()).allMatch((port) -> isNamed(ex, port)));
	}

	/** Whether a message names a node exactly once. */
	private static boolean isNamed(Exception ex, int port) {
		return StringUtils.countOccurrencesOf(ex.getMessage(), "127.0.0.1:" + port) == 1;
	}

	@Test
	void errorsNameEachNodeThatFailsOnce() throws Exception {
		QuorumServers servers = servers(3);
		RedisQuorumLockProvider provider = provider(servers);
		LockGrant grant = RedisProcesses.acquire(provider, KEY);
		servers.server(1).kill();
		servers.server(2).kill();
		await().atMost(PATIENCE).until(() -> {
			probe(provider);
			return provider.nodeStates().values().stream().filter((state) -> state.contains("refused")).count() == 2;
		});
		List<ThrowableAssert.ThrowingCallable> calls = List.of(() -> provider.probe(PATIENCE),
				() -> locks(provider).acquire(LockRequest.of(LockKey.of("another")).withWaitTime(Duration.ZERO)),
				() -> StoreCalls.resultOf(provider.renew(Map.of(grant, Duration.ofSeconds(30)), CALL_TIMEOUT)));
		for (ThrowableAssert.ThrowingCallable call : calls) {
			// A late answer gives another reason; a call that succeeds is a mistake at
			// once.
			await().until(() -> Objects.requireNonNull(catchThrowableOfType(LockProviderException.class, call)),
					(ex) -> ex.getMessage().contains("has no majority: 1 of 3 nodes answered, 2 are needed")
							&& isNamed(ex, servers.server(1).port()) && isNamed(ex, servers.server(2).port()));
		}
		assertThat(provider.nodeStates().get("127.0.0.1:" + servers.server(1).port()))
			.startsWith("down: cannot be reached")
			.doesNotContain(Integer.toString(servers.server(1).port()));
	}

	@Test
	void processThatOneNodeRefusesForItsLongestLeaseTakesPartOnNoOther() {
		QuorumServers servers = servers(3);
		RedisQuorumLockProvider provider = this.processes.closing(servers.provider(PREFIX));
		LockTemplate locks = locks(provider);
		try (Jedis admin = servers.server(2).admin()) {
			admin.set(LAYOUT.quorumLongestLease(), RedisLayout.bytes("300000"));
			await().atMost(PATIENCE).until(() -> {
				probe(provider);
				return provider.nodeStates().get("127.0.0.1:" + servers.server(2).port()).contains("max-lease");
			});
			assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> locks.acquire(LockRequest.of(KEY)))
				.withMessageContaining("0 of 3 nodes answered")
				.withMessageContaining("max-lease");
			admin.del(LAYOUT.quorumLongestLease());
		}
		RedisProcesses.acquireAgain(locks, LockRequest.of(KEY)).close();
	}

	private static void probe(RedisQuorumLockProvider provider) {
		try {
			provider.probe(CALL_TIMEOUT);
		}
		catch (LockProviderException ex) {
			// It has opened the connections.
		}
	}

	@Test
	void serverOfTwoNamesIsNoMajority() {
		QuorumServers servers = servers(1);
		int port = servers.server(0).port();
		List<RedisQuorumNode> nodes = List.of(new RedisQuorumNode(RedisURI.create("127.0.0.1", port), null),
				new RedisQuorumNode(RedisURI.create("localhost", port), null),
				new RedisQuorumNode(RedisURI.create("127.0.0.1", FreePorts.next()), null));
		RedisQuorumLockProvider provider = this.processes.closing(new RedisQuorumLockProvider(nodes,
				new RedisQuorumSettings(PREFIX, Duration.ofDays(1)), Duration.ZERO, TestClients.resources()));
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> provider.check(PATIENCE))
			.withMessageContaining("leads to the same server as")
			.withMessageContaining("localhost:" + port)
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.INVALID_PROPERTY));
		assertThatExceptionOfType(LockProviderException.class)
			.isThrownBy(() -> locks(provider).acquire(LockRequest.of(KEY)))
			.withMessageContaining("has no majority: 0 of 3 nodes answered")
			.withMessageContaining("leads to the same server as");
	}

	@Test
	void serverWhoseClockWasSetBackHasJustStarted() {
		Duration delay = QuorumNodeCheck.restartDelay(Duration.ofDays(1));
		String info;
		try (Jedis admin = QuorumServers.three().server(0).admin()) {
			info = admin.info().replaceAll("uptime_in_seconds:\\d+", "uptime_in_seconds:-5");
		}
		ScriptReply reply = new ScriptReply(List.of(RedisLayout.bytes(RedisLayout.FORMAT.text()),
				RedisLayout.bytes("86400000"), 1L, RedisLayout.bytes(info), RedisLayout.bytes("")), true);
		assertThat(new QuorumNodeCheck(LAYOUT, Duration.ofDays(1), delay).check("node", reply).missing())
			.isEqualTo(delay);
	}

	private static QuorumRequest request(RedisLockKeys keys, OwnerId owner) {
		return new QuorumRequest(KEY, keys, owner, Duration.ofHours(1), Deadline.after(PATIENCE), false,
				(holder, releasePending) -> new AttemptResult.Busy(Duration.ZERO, null));
	}

	private static void loadScripts(Quorum quorum, QuorumNode node) {
		RedisLockKeys keys = LAYOUT.keys(LockKey.of("loaded"));
		OwnerId owner = OwnerId.random();
		for (ScriptCall script : List.of(quorum.attempt(request(keys, owner)), quorum.release(keys, owner))) {
			NodeCall call = new NodeCall(node);
			call.send(script, CallKind.ACQUIRE, Deadline.after(PATIENCE));
			await().atMost(PATIENCE).until(() -> call.call().isDone());
		}
	}

	/**
	 * On the event loop, which passes what another thread has handed to it just before.
	 */
	@Test
	void releaseComesBehindAnAttemptThatIsNotOnItsWayYet() throws Exception {
		RedisQuorumLockProvider provider = provider(QuorumServers.three());
		Quorum quorum = provider.quorum();
		QuorumNode node = quorum.nodes().get(0);
		// Else the script is sent a second time, as text.
		loadScripts(quorum, node);
		LockKey key = LockKey.of("overtaken");
		RedisLockKeys keys = LAYOUT.keys(key);
		OwnerId owner = OwnerId.random();
		NodeCall attempt = new NodeCall(node);
		NodeCall first = new NodeCall(node);
		CompletableFuture<Void> released = new CompletableFuture<>();
		first.call().onDone(() -> {
			CompletableFuture
				.runAsync(() -> attempt.send(quorum.attempt(request(keys, owner)), CallKind.ACQUIRE,
						Deadline.after(PATIENCE)))
				.join();
			attempt.abandon();
			quorum.pending(node).add(quorum.release(keys, owner), attempt, Duration.ofHours(1));
			released.complete(null);
		});
		first.send(quorum.order(keys, owner, 1), CallKind.ACQUIRE, Deadline.after(PATIENCE));
		released.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
		await().atMost(PATIENCE).until(() -> quorum.pending(node).size() == 0);
		// Behind both.
		assertThat(provider.find(key, PATIENCE)).isEmpty();
		try (Jedis admin = QuorumServers.three().server(0).admin()) {
			assertThat(admin.exists(LAYOUT.lock(key))).isFalse();
		}
	}

	@ParameterizedTest
	@CsvSource({ "PT25H, , DL-511", "PT1M, PT25H, DL-515" })
	void longerLeasesAndHoldsAreRefused(Duration lease, Duration minHold, String error) {
		LockTemplate locks = locks(provider(QuorumServers.three()));
		LockRequest request = LockRequest.of(KEY).withLease(lease);
		LockRequest refused = (minHold != null) ? request.withMinHold(minHold) : request;
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> locks.acquire(refused))
			.withMessageContaining("keeps no lock for longer than PT24H (distributed-lock.redis.quorum.max-lease)")
			.withMessageContaining((minHold != null) ? "by withMinHold or the minHold of the annotation"
					: "by withLease or the lease of the annotation")
			.satisfies((ex) -> assertThat(ex.error().id()).isEqualTo(error));
	}

	@Test
	void attemptBeyondTheLongestLeaseIsRefusedByTheProviderToo() {
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> RedisProcesses.enter(provider(QuorumServers.three()), KEY)
				.attempt(OwnerId.random(), Duration.ofHours(25), false, CALL_TIMEOUT)
				.result());
	}

	@Test
	void fewOrRepeatedNodesAreRefused() {
		for (List<Integer> ports : List.<List<Integer>>of(List.of(), List.of(7001, 7002),
				List.of(1, 2, 3, 4, 5, 6, 7, 8), List.of(7001, 7002, 7001))) {
			assertThatExceptionOfType(LockConfigurationException.class)
				.isThrownBy(() -> new RedisQuorumLockProvider(QuorumServers.nodes(ports),
						new RedisQuorumSettings(PREFIX, RedisQuorumSettings.DEFAULT_MAX_LEASE)))
				.withMessageContaining("distributed-lock.redis.quorum.nodes");
		}
	}

}
