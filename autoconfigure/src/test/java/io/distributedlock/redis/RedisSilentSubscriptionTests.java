package io.distributedlock.redis;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.provider.Deadline;
import io.distributedlock.testkit.TcpProxy;
import io.distributedlock.testkit.TimeBounds;
import io.distributedlock.testkit.WireFault;
import io.distributedlock.testkit.WireFault.Effect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A process whose subscription was cut without a word, as by a firewall that forgets an
 * idle connection, while other processes contend for the same lock.
 */
@Tag("full")
class RedisSilentSubscriptionTests {

	private static final LockKey KEY = LockKey.of("orders", "42");

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	/** How soon the process is granted the lock again. */
	private static final Duration BOUND = Duration.ofSeconds(2);

	private static final long HOLD_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

	@RegisterExtension
	private final RedisProcesses processes = new RedisProcesses();

	private final Jedis admin = this.processes.closing(TestRedis.emptied());

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private final AtomicBoolean stopped = new AtomicBoolean();

	@AfterEach
	void stop() throws InterruptedException {
		this.stopped.set(true);
		this.threads.shutdown();
		assertThat(this.threads.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
	}

	/**
	 * Lets a process acquire the lock over and over; returns the number of its grants.
	 */
	private AtomicInteger contend(LockTemplate locks) {
		AtomicInteger grants = new AtomicInteger();
		this.threads.execute(() -> {
			while (!this.stopped.get()) {
				try (LockLease lease = locks.acquire(RedisProcesses.request(KEY, RedisProcesses.LEASE, PATIENCE))) {
					grants.incrementAndGet();
					LockSupport.parkNanos(HOLD_NANOS);
				}
			}
		});
		return grants;
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void processIsGrantedAgain(String name, Function<RedisConfiguration, RedisConnectionFactory> client) {
		TcpProxy proxy = this.processes.closing(new TcpProxy(new InetSocketAddress("localhost", TestRedis.port())));
		RedisLockProvider deaf = this.processes.provider(client.apply(TestRedis.standalone(proxy.port())));
		Set<AtomicInteger> rivals = Collections.newSetFromMap(new ConcurrentHashMap<>());
		for (int i = 0; i < 2; i++) {
			rivals.add(contend(this.processes.locks(client.apply(TestRedis.standalone(TestRedis.port())))));
		}
		AtomicInteger grants = contend(this.processes.locks(deaf, LockSettings.defaults()));
		await().atMost(PATIENCE).until(() -> grants.get() > 3 && deaf.subscription().isActive());
		new CommandStats(this.admin).reset();
		for (int round = 0; round < 3; round++) {
			// Again if this machine stalls.
			await().pollDelay(Duration.ZERO).atMost(PATIENCE).until(() -> isGrantedInTime(proxy, deaf, grants));
		}
		// Jedis would send it on a new socket, whose reply its pool would lend.
		assertThat(new CommandStats(this.admin).calls()).doesNotContainKey("unsubscribe");
		assertThat(rivals).allSatisfy((rival) -> assertThat(rival.get()).isPositive());
		String channel = RedisProcesses.LAYOUT.channelPrefix() + deaf.process();
		assertThat(this.admin.pubsubNumSub(channel).get(channel)).isPositive();
	}

	private static boolean isGrantedInTime(TcpProxy proxy, RedisLockProvider deaf, AtomicInteger grants) {
		WireFault fault = proxy.onReply(RedisSilentSubscriptionTests::isNotification, Effect.BLACK_HOLE).once();
		await().atMost(PATIENCE).until(() -> fault.hits() == 1);
		int before = grants.get();
		Deadline end = Deadline.after(TimeBounds.withLoad(BOUND));
		await().atMost(PATIENCE).until(() -> grants.get() > before + 1);
		boolean inTime = !end.isPast();
		int notifiedBefore = grants.get();
		await().atMost(PATIENCE).until(() -> deaf.subscription().isActive() && grants.get() > notifiedBefore + 5);
		return inTime;
	}

	static Stream<Arguments> topologies() {
		TestClients.Client lettuce = TestClients::lettuce;
		TestClients.Client jedis = TestClients::jedis;
		TestClients.Client wrapped = (servers, ports) -> TestClients.wrapped(TestClients.lettuce(servers, ports));
		TestSentinels sentinels = TestSentinels.shared();
		TestCluster cluster = TestCluster.shared();
		return Stream.of(lettuce, wrapped, jedis)
			.flatMap((client) -> Stream.of(
					Arguments.of(client, TestRedis.standalone(TestRedis.port()), List.of(TestRedis.server())),
					Arguments.of(client, sentinels.configuration(), List.of(sentinels.primary())),
					Arguments.of(client, cluster.configuration(), cluster.masters())));
	}

	@ParameterizedTest
	@MethodSource("topologies")
	void replacedSubscriptionLeavesNothing(TestClients.Client client, RedisConfiguration configuration,
			List<RedisServer> servers) {
		TcpProxy proxy = this.processes.closing(new TcpProxy(
				servers.stream().map((server) -> new InetSocketAddress("localhost", server.port())).toList()));
		RedisConfiguration proxied = (configuration instanceof RedisStandaloneConfiguration)
				? TestRedis.standalone(proxy.port()) : configuration;
		RedisLockProvider deaf = this.processes.provider(client.connect(proxied, proxy::port));
		List<Jedis> admins = servers.stream().map((server) -> this.processes.closing(server.admin())).toList();
		deaf.subscription().begin();
		await().atMost(PATIENCE).until(deaf.subscription()::isActive);
		long threads = subscriptionThreads();
		for (int round = 1; round <= 2; round++) {
			silence(proxy, admins.get(0), deaf);
			await().atMost(PATIENCE).until(() -> {
				long before = System.nanoTime();
				deaf.subscription().replace();
				assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(5));
				return !deaf.subscription().isActive();
			});
			await().atMost(PATIENCE).until(deaf.subscription()::isActive);
			await().atMost(PATIENCE)
				.untilAsserted(() -> assertThat(subscriptionThreads()).isLessThanOrEqualTo(threads));
			await().atMost(PATIENCE)
				.untilAsserted(() -> assertThat(admins).flatExtracting((admin) -> subscribers(admin, deaf)).hasSize(1));
		}
	}

	private static void silence(TcpProxy proxy, Jedis admin, RedisLockProvider deaf) {
		WireFault fault = proxy.onReply(RedisSilentSubscriptionTests::isNotification, Effect.BLACK_HOLE).once();
		admin.publish(RedisProcesses.LAYOUT.channelPrefix() + deaf.process(), "silence");
		await().atMost(PATIENCE).until(() -> fault.hits() == 1);
	}

	private static List<String> subscribers(Jedis admin, RedisLockProvider provider) {
		String channel = RedisProcesses.LAYOUT.channelPrefix() + provider.process();
		return Collections.nCopies(admin.pubsubNumSub(channel).get(channel).intValue(), channel);
	}

	private static long subscriptionThreads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().startsWith("distributed-lock-redis-"))
			.filter((thread) -> thread.getName().contains("subscription"))
			.count();
	}

	private static boolean isNotification(byte[] packet) {
		String text = new String(packet, StandardCharsets.ISO_8859_1);
		return text.contains("message") && text.contains(RedisProcesses.LAYOUT.channelPrefix());
	}

}
