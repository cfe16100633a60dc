package io.distributedlock.zookeeper;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;

import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.LossReason;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.provider.StoredLock;
import io.distributedlock.testkit.TcpProxy;
import io.distributedlock.testkit.WireFault;
import io.distributedlock.testkit.WireFault.Effect;
import io.distributedlock.zookeeper.session.LockNodeState;

import static io.distributedlock.testkit.StoreCalls.outcomeOf;
import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** Tests of the nodes of shares: containers that are left, races, and lost answers. */
class ZooKeeperShareTests {

	private static final Duration LEASE = Duration.ofSeconds(60);

	private static final Duration TIMEOUT = Duration.ofSeconds(1);

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	/** Another one would remove the containers that the tests leave. */
	private static final ZooKeeperServerProcess SERVER = ZooKeeperServerProcess.withoutReaper();

	private final ZooKeeperFixture fixture = new ZooKeeperFixture("127.0.0.1:" + SERVER.port(), Duration.ofSeconds(20));

	private final LockKey key = LockKey.of("shares", "7");

	private final String lockNode = this.fixture.path(this.key).lockNode();

	private final ZooKeeperFaults faults = new ZooKeeperFaults(this.fixture, () -> List.of(SERVER), () -> SERVER);

	private final TcpProxy proxy = new TcpProxy(this.faults.servers().get(0));

	@AfterAll
	static void stop() {
		SERVER.kill();
	}

	@AfterEach
	void close() {
		this.fixture.close();
		this.proxy.close();
	}

	/**
	 * Leaves a container as if its shares had ended with their sessions: the server keeps
	 * one that never had a child.
	 */
	private void leaveContainer() {
		new Process().connect();
		ZooKeeperFixture
			.call(() -> this.fixture.admin().create().withMode(CreateMode.CONTAINER).forPath(this.lockNode));
		createShare();
		deleteShare();
	}

	private List<String> children() {
		return this.fixture.children(this.lockNode);
	}

	private List<String> queue() {
		return this.fixture.children(this.fixture.path(this.key).queue());
	}

	private Stat stat() {
		return ZooKeeperFixture.call(() -> this.fixture.admin().checkExists().forPath(this.lockNode));
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void emptyContainerIsReplacedByAnExclusiveLock(boolean willWait) {
		leaveContainer();
		Process writer = new Process();
		writer.granted(writer.attempt(0, willWait));
		assertThat(stat().getEphemeralOwner()).isEqualTo(writer.provider.sessions().present().id());
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void emptyContainerIsUsedByAShare(boolean willWait) {
		leaveContainer();
		Process reader = new Process();
		reader.granted(reader.attempt(1, willWait));
		assertThat(children()).hasSize(1);
		assertThat(new Process().attempt(0, false)).isInstanceOf(AttemptResult.Busy.class);
	}

	/** As a lock that is held: its version would say that it is reserved. */
	@ParameterizedTest
	@ValueSource(ints = { 0, 1 })
	void nodeThatAnOperatorMadeIsLeftAlone(int limit) {
		Process process = new Process();
		process.connect();
		byte[] note = "by hand".getBytes(StandardCharsets.UTF_8);
		ZooKeeperFixture.call(() -> this.fixture.admin().create().creatingParentsIfNeeded().forPath(this.lockNode));
		for (int version = 0; version < LockNodeState.RESERVED.version(); version++) {
			process.busy(process.attempt(limit, true));
			ZooKeeperFixture.call(() -> this.fixture.admin().setData().forPath(this.lockNode, note));
		}
		process.busy(process.attempt(limit, true));
		process.busy(process.attempt(limit, false));
		assertThat(ZooKeeperFixture.call(() -> this.fixture.admin().getData().forPath(this.lockNode))).isEqualTo(note);
	}

	@Test
	void waitingWriterFindsAContainerThatBecameEmpty() {
		Process reader = new Process();
		reader.acquire(2);
		Process writer = new Process();
		writer.busy(writer.attempt(0, true));
		reader.endSession();
		await().atMost(PATIENCE).until(() -> writer.attempt(0, true) instanceof AttemptResult.Granted);
		assertThat(queue()).isEmpty();
	}

	/** Without the first steps the deletion of the container would delete a held lock. */
	@Test
	void deletionOfAContainerLeavesALockNodeAlone() {
		leaveContainer();
		Process writer = new Process(this.proxy);
		Process rival = new Process();
		writer.connect();
		WireFault held = this.proxy.onRequest((packet) -> text(packet).contains("/probe"), Effect.HOLD);
		CompletableFuture<AttemptResult> attempt = CompletableFuture.supplyAsync(() -> writer.attempt(0, false));
		await().atMost(PATIENCE).until(() -> held.hits() > 0);
		LockGrant grant = rival.granted(rival.attempt(0, false));
		held.close();
		assertThat(attempt).succeedsWithin(PATIENCE).isInstanceOf(AttemptResult.Busy.class);
		assertThat(rival.renew(grant)).isEqualTo(RenewalOutcome.RENEWED);
	}

	@Test
	void deletionOfAContainerLeavesAShareAlone() {
		leaveContainer();
		Process writer = new Process(this.proxy);
		Process rival = new Process();
		writer.connect();
		WireFault held = this.proxy.onRequest((packet) -> text(packet).contains("/probe"), Effect.HOLD);
		CompletableFuture<AttemptResult> attempt = CompletableFuture.supplyAsync(() -> writer.attempt(0, false));
		await().atMost(PATIENCE).until(() -> held.hits() > 0);
		LockGrant grant = rival.acquire(2);
		held.close();
		assertThat(attempt).succeedsWithin(PATIENCE).isInstanceOf(AttemptResult.Busy.class);
		assertThat(rival.renew(grant)).isEqualTo(RenewalOutcome.RENEWED);
	}

	@Test
	void endOfASessionEndsItsSharesAlone() {
		Process dead = new Process();
		Process reader = new Process();
		dead.acquire(4);
		dead.acquire(4);
		LockGrant kept = reader.acquire(4);
		Process waiting = new Process();
		waiting.busy(waiting.attempt(2, true));
		dead.endSession();
		waiting.awaitNotification();
		waiting.granted(waiting.attempt(2, true));
		assertThat(reader.renew(kept)).isEqualTo(RenewalOutcome.RENEWED);
		assertThat(children()).hasSize(2);
	}

	@Test
	void shareBeyondTheLimitIsGivenBackAndKeepsItsPlace() {
		Process holder = new Process();
		Process head = new Process(this.proxy);
		Process next = new Process();
		LockGrant first = holder.acquire(2);
		holder.acquire(2);
		head.busy(head.attempt(2, true));
		next.busy(next.attempt(2, true));
		List<String> before = queue();
		WireFault held = this.proxy.onRequest(request("/"), Effect.HOLD);
		holder.release(first);
		head.awaitNotification();
		CompletableFuture<AttemptResult> attempt = CompletableFuture.supplyAsync(() -> head.attempt(2, true));
		await().atMost(PATIENCE).until(() -> held.hits() > 0);
		// One that has read the queue before the others came.
		createShare();
		held.close();
		assertThat(attempt).succeedsWithin(PATIENCE).isInstanceOf(AttemptResult.Busy.class);
		assertThat(queue()).containsExactlyInAnyOrderElementsOf(before);
		assertThat(children()).hasSize(2);
		assertThat(next.attempt(2, true)).isInstanceOf(AttemptResult.Busy.class);
		deleteShare();
		head.awaitNotification();
		head.granted(head.attempt(2, true));
		// The entry goes behind the grant.
		await().atMost(PATIENCE).untilAsserted(() -> assertThat(queue()).hasSize(1));
	}

	private void createShare() {
		ZooKeeperFixture.call(() -> this.fixture.admin()
			.create()
			.withMode(CreateMode.EPHEMERAL)
			.forPath(this.lockNode + "/" + "0".repeat(32)));
	}

	private void deleteShare() {
		ZooKeeperFixture.call(() -> this.fixture.admin().delete().forPath(this.lockNode + "/" + "0".repeat(32)));
	}

	@Test
	void neverMoreSharesThanTheLimitAllows() {
		List<Process> processes = List.of(new Process(), new Process(), new Process(), new Process());
		AtomicInteger held = new AtomicInteger();
		AtomicInteger most = new AtomicInteger();
		AtomicInteger grants = new AtomicInteger();
		long end = System.nanoTime() + Duration.ofSeconds(3).toNanos();
		processes.stream().map((process) -> CompletableFuture.runAsync(() -> {
			while (System.nanoTime() - end < 0
					|| (grants.get() <= 20 && System.nanoTime() - end < PATIENCE.toNanos())) {
				if (process.attempt(2, false) instanceof AttemptResult.Granted granted) {
					most.accumulateAndGet(held.incrementAndGet(), Math::max);
					grants.incrementAndGet();
					LockSupport.parkNanos(Duration.ofMillis(2).toNanos());
					held.decrementAndGet();
					process.release(granted.grant());
				}
			}
		}, (work) -> new Thread(work).start())).toList().forEach(CompletableFuture::join);
		assertThat(most).hasValueLessThanOrEqualTo(2);
		assertThat(grants).hasValueGreaterThan(20);
		await().atMost(PATIENCE).until(() -> stat() == null);
	}

	/** The last two find each other in the container, and leave it empty together. */
	@Test
	void sharesThatAreReleasedAtTheSameTimeLeaveNothing() {
		List<Process> processes = List.of(new Process(), new Process(), new Process());
		for (int round = 0; round < 40; round++) {
			List<CompletableFuture<Void>> releases = new ArrayList<>();
			List<LockGrant> grants = processes.stream().map((process) -> process.acquire(3)).toList();
			for (int number = 0; number < grants.size(); number++) {
				Process process = processes.get(number);
				LockGrant grant = grants.get(number);
				releases.add(CompletableFuture.runAsync(() -> process.release(grant)));
			}
			releases.forEach(CompletableFuture::join);
			assertThat(stat()).isNull();
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void shareOfALostAcquireIsReleased(boolean further) {
		Process reader = new Process(this.proxy);
		Process other = new Process();
		reader.connect();
		LockGrant before = further ? other.acquire(9) : null;
		this.proxy.onReplyTo(further ? joins() : request("/"), Effect.CUT).once();
		OwnerId owner = OwnerId.random().ofShare(true);
		assertThatExceptionOfType(LockException.class).isThrownBy(() -> reader.attempt(9, owner, false, PATIENCE));
		await().atMost(PATIENCE).until(() -> reader.provider.undecided().size() == 0);
		assertThat(outcomeOf(reader.provider.release(this.key, owner, PATIENCE), PATIENCE))
			.isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(children()).hasSize(further ? 1 : 0);
		if (before != null) {
			assertThat(other.renew(before)).isEqualTo(RenewalOutcome.RENEWED);
			other.release(before);
		}
		assertThat(stat()).isNull();
		reader.acquire(9);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void lostAnswerToAReleaseLeavesTheOthers(boolean others) {
		Process reader = new Process(this.proxy);
		Process other = new Process();
		reader.connect();
		LockGrant grant = reader.acquire(9);
		LockGrant kept = others ? other.acquire(9) : null;
		this.proxy.onReplyTo(request("/" + grant.owner().text()), Effect.CUT).once();
		ReleaseOutcome first = outcomeOf(reader.provider.release(this.key, grant.owner(), TIMEOUT), TIMEOUT);
		if (first != ReleaseOutcome.RELEASED) {
			await().atMost(PATIENCE)
				.until(() -> outcomeOf(reader.provider.release(this.key, grant.owner(), TIMEOUT),
						TIMEOUT) == ReleaseOutcome.RELEASED);
		}
		assertThat(children()).hasSize(others ? 1 : 0);
		if (kept != null) {
			assertThat(other.renew(kept)).isEqualTo(RenewalOutcome.RENEWED);
			other.release(kept);
		}
		await().atMost(PATIENCE).until(() -> stat() == null);
	}

	/** The reservation of an unanswered release is found, and ends. */
	@Test
	void lostAnswerToTheReleaseOfAContendedShareBlocksNobody() {
		Process reader = new Process(this.proxy);
		Process writer = new Process();
		reader.connect();
		LockGrant grant = reader.acquire(9);
		writer.busy(writer.attempt(0, true));
		assertThat(stat().getVersion()).isEqualTo(LockNodeState.CONTENDED.version());
		this.proxy.onReplyTo(reserves(), Effect.CUT).once();
		outcomeOf(reader.provider.release(this.key, grant.owner(), TIMEOUT), TIMEOUT);
		// The writer does not use it.
		await().atMost(PATIENCE).until(() -> stat() == null && queue().isEmpty());
		assertThat(reader.provider.undecided().size()).isZero();
	}

	@Test
	void waiterForAShareOutlastsABrokenConnection() {
		Process writer = new Process();
		LockGrant held = writer.acquire(0);
		Process reader = new Process(this.proxy);
		reader.busy(reader.attempt(2, true));
		this.proxy.cutAll();
		writer.release(held);
		await().atMost(PATIENCE)
			.ignoreExceptionsInstanceOf(LockException.class)
			.until(() -> reader.attempt(2, true) instanceof AttemptResult.Granted);
		await().atMost(PATIENCE).untilAsserted(() -> assertThat(queue()).isEmpty());
		await().atMost(PATIENCE).untilAsserted(() -> assertThat(children()).hasSize(1));
	}

	@Test
	void endOfTheSessionIsToldToTheHolderOfAShare() {
		Process reader = new Process();
		Process other = new Process();
		LockGrant kept = other.acquire(9);
		try (LockTimer timer = new LockTimer();
				LockTemplate locks = new LockTemplate(reader.provider,
						LockSettings.defaults().withCallTimeout(PATIENCE), timer, List.of(), List.of())) {
			LockLease lease = locks.acquire(LockRequest.of(this.key).shared());
			CompletableFuture<LossReason> told = new CompletableFuture<>();
			lease.onLost(() -> told.complete(lease.lossReason()));
			reader.endSession();
			assertThat(told).succeedsWithin(PATIENCE).isIn(LossReason.SESSION_ENDED, LossReason.NOT_HELD);
		}
		assertThat(other.renew(kept)).isEqualTo(RenewalOutcome.RENEWED);
	}

	@Test
	void shareIsRenewedThroughAStall() {
		Process reader = new Process(this.proxy);
		LockGrant grant = reader.acquire(9);
		long before = grant.sessionDeadline().until();
		WireFault held = this.proxy.onRequest((packet) -> true, Effect.HOLD);
		StoreCall<Map<LockGrant, RenewalOutcome>> renewal = reader.provider.renew(Map.of(grant, LEASE), PATIENCE);
		await().atMost(PATIENCE).until(() -> held.hits() > 0);
		assertThat(renewal.isDone()).isFalse();
		held.close();
		assertThat(resultOf(renewal, PATIENCE)).containsEntry(grant, RenewalOutcome.RENEWED);
		await().atMost(PATIENCE).until(() -> grant.sessionDeadline().until() - before > 0);
		reader.release(grant);
	}

	@Test
	void sharesAreFoundAndOneIsReleasedByForce() {
		Process reader = new Process();
		Process other = new Process();
		LockGrant first = reader.acquire(9);
		LockGrant second = other.acquire(9);
		List<StoredLock> found = new Process().provider.findAll(this.key, PATIENCE);
		assertThat(found).extracting(StoredLock::owner).containsExactlyInAnyOrder(first.owner(), second.owner());
		assertThat(found).extracting(StoredLock::order).containsExactlyInAnyOrder(first.order(), second.order());
		StoredLock forced = found.stream().filter((lock) -> second.owner().equals(lock.owner())).findFirst().get();
		assertThat(reader.provider.forceRelease(this.key, forced, PATIENCE)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(other.renew(second)).isEqualTo(RenewalOutcome.NOT_HELD);
		assertThat(reader.renew(first)).isEqualTo(RenewalOutcome.RENEWED);
	}

	@Test
	void busyExclusiveAttemptNamesTheHolderOfAShare() {
		Process reader = new Process();
		reader.acquire(9);
		Process writer = new Process();
		assertThat(((AttemptResult.Busy) writer.attempt(0, false)).holder()).isNotNull();
	}

	/** Matches the packets that have a path which begins with that of the lock node. */
	private Predicate<byte[]> request(String suffix) {
		return (packet) -> text(packet).contains(this.lockNode + suffix);
	}

	/** Matches the transaction that adds a share to others. */
	private Predicate<byte[]> joins() {
		return (packet) -> {
			int create = text(packet).indexOf(this.lockNode);
			return create >= 0 && text(packet).startsWith(this.lockNode + "/", create);
		};
	}

	/** Matches the transaction that puts a reservation in the place of a container. */
	private Predicate<byte[]> reserves() {
		return (packet) -> text(packet).split(this.lockNode + "(?!/)", -1).length > 3;
	}

	private static String text(byte[] packet) {
		return new String(packet, StandardCharsets.ISO_8859_1);
	}

	/**
	 * A process that attempts when the test says so; a limit of 0 is an exclusive one.
	 */
	private final class Process {

		private final ZooKeeperLockProvider provider;

		private final AtomicInteger notifications = new AtomicInteger();

		private final List<LockContender> contenders = new ArrayList<>();

		private Process() {
			this.provider = ZooKeeperShareTests.this.fixture.newProcess();
		}

		private Process(TcpProxy through) {
			this.provider = (ZooKeeperLockProvider) ZooKeeperShareTests.this.faults.newProcess(through);
			connect();
		}

		private void connect() {
			this.provider.check(PATIENCE);
		}

		private void endSession() {
			SERVER.endSession(this.provider.sessions().present().id());
		}

		private LockContender contender(int limit) {
			while (this.contenders.size() <= limit) {
				this.contenders.add(this.provider.newShareContender(ZooKeeperShareTests.this.key,
						this.contenders.size(), this.notifications::incrementAndGet));
			}
			return this.contenders.get(limit);
		}

		private AttemptResult attempt(int limit, boolean willWait) {
			return attempt(limit, OwnerId.random().ofShare(limit > 0), willWait, PATIENCE);
		}

		private AttemptResult attempt(int limit, OwnerId owner, boolean willWait, Duration timeout) {
			this.notifications.set(0);
			return resultOf(contender(limit).attempt(owner, LEASE, willWait, timeout), timeout);
		}

		private void awaitNotification() {
			await().atMost(PATIENCE).until(() -> this.notifications.get() > 0);
		}

		private LockGrant acquire(int limit) {
			return granted(attempt(limit, false));
		}

		private LockGrant granted(AttemptResult result) {
			assertThat(result).isInstanceOf(AttemptResult.Granted.class);
			return ((AttemptResult.Granted) result).grant();
		}

		private void busy(AttemptResult result) {
			assertThat(result).isInstanceOf(AttemptResult.Busy.class);
		}

		private RenewalOutcome renew(LockGrant grant) {
			return resultOf(this.provider.renew(Map.of(grant, LEASE), PATIENCE), PATIENCE).get(grant);
		}

		private void release(LockGrant grant) {
			assertThat(outcomeOf(this.provider.release(grant.key(), grant.owner(), PATIENCE), PATIENCE))
				.isEqualTo(ReleaseOutcome.RELEASED);
		}

	}

}
