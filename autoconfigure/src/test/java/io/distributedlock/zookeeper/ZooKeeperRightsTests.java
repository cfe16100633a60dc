package io.distributedlock.zookeeper;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.awaitility.core.ConditionTimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.testkit.TcpProxy;
import io.distributedlock.testkit.TimeBounds;
import io.distributedlock.testkit.WireFault;
import io.distributedlock.zookeeper.session.NodePaths;

import static io.distributedlock.testkit.StoreCalls.outcomeOf;
import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests of permissions and credentials that are lost while locks are used.
 */
@Tag("full")
class ZooKeeperRightsTests {

	private static final Duration SESSION = Duration.ofSeconds(6);

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final ZooKeeperFixture fixture = new ZooKeeperFixture(TestZooKeeper.connectString(), SESSION);

	private final LockTimer timer = new LockTimer();

	private final ZooKeeperLockProvider process = this.fixture.newProcess();

	private final ZooKeeperLockProvider rival = this.fixture.newProcess();

	private final LockTemplate locks = new LockTemplate(this.process, LockSettings.defaults(), this.timer, List.of(),
			List.of());

	private final LockKey key = LockKey.of("rights", "key");

	private final List<TcpProxy> proxies = new ArrayList<>();

	@AfterEach
	void close() {
		this.locks.close();
		this.timer.close();
		this.fixture.close();
		this.proxies.forEach(TcpProxy::close);
	}

	private static AttemptResult attempt(ZooKeeperLockProvider process, LockKey key) {
		return resultOf(process.newContender(key, () -> {
			// Ignored: the test attempts by itself.
		}).attempt(OwnerId.random(), Duration.ofSeconds(60), false, TIMEOUT), TIMEOUT);
	}

	private ReleaseOutcome release(LockGrant grant) {
		return outcomeOf(this.process.release(this.key, grant.owner(), TIMEOUT), TIMEOUT);
	}

	private void permit(String node, int permissions) {
		ZooKeeperFixture.call(() -> this.fixture.admin()
			.setACL()
			.withACL(List.of(new ACL(permissions, ZooDefs.Ids.ANYONE_ID_UNSAFE)))
			.forPath(node));
	}

	@Test
	void refusedCredentialsLoseTheLockAndFailUntilANewSession() {
		AtomicInteger rounds = new AtomicInteger();
		// A second later there is a new session, which a slow machine may find.
		LockProviderException failure = await().atMost(Duration.ofMinutes(1))
			.ignoreExceptionsMatching(
					(ex) -> ex instanceof LockProviderException || ex instanceof ConditionTimeoutException)
			.until(() -> failureAfterRefusal(LockKey.of("rights", "refused-" + rounds.incrementAndGet())),
					Objects::nonNull);
		assertThat(failure).hasMessageContaining("credentials");
		assertThat(failure.isEffectUnknown()).isFalse();
		LockKey refused = LockKey.of("rights", "refused-" + rounds);
		await().atMost(PATIENCE).until(() -> attempt(this.rival, refused) instanceof AttemptResult.Granted);
		LockKey other = LockKey.of("rights", "other");
		await().atMost(PATIENCE)
			.ignoreExceptionsInstanceOf(LockProviderException.class)
			.until(() -> attempt(this.process, other) instanceof AttemptResult.Granted);
	}

	/** Loses a lock, and returns how the next attempt is refused, if it is. */
	private @Nullable LockProviderException failureAfterRefusal(LockKey fresh) {
		LockLease lease = this.locks.acquire(LockRequest.of(fresh));
		this.process.sessions()
			.present()
			.zooKeeper()
			.addAuthInfo("unheard-of", "who:knows".getBytes(StandardCharsets.UTF_8));
		await().atMost(TimeBounds.withLoad(1000)).until(() -> !lease.isHeld());
		LockProviderException failure = catchThrowableOfType(LockProviderException.class,
				() -> attempt(this.process, fresh));
		if (failure == null || failure.error() != LockError.NOT_PERMITTED) {
			return null;
		}
		assertThat(attempt(this.rival, fresh)).as("the session has not ended yet")
			.isInstanceOf(AttemptResult.Busy.class);
		return failure;
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void credentialsRefusedAtTheStartFailAndAreTriedAgain(boolean before) throws Exception {
		CuratorFramework client = this.fixture.client(TestZooKeeper.connectString(),
				(builder) -> builder.authorization("unheard-of", "who:knows".getBytes(StandardCharsets.UTF_8)));
		if (before) {
			ZooKeeper handle = client.getZookeeperClient().getZooKeeper();
			await().until(() -> handle.getState() == ZooKeeper.States.AUTH_FAILED);
		}
		ZooKeeperLockProvider refused = this.fixture.newProcess(client);
		await().untilAsserted(() -> assertThatExceptionOfType(LockProviderException.class)
			.isThrownBy(() -> attempt(refused, this.key))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NOT_PERMITTED)));
		long first = client.getZookeeperClient().getInstanceIndex();
		await().until(() -> client.getZookeeperClient().getInstanceIndex() > first + 1);
	}

	@Test
	void refusalEndsACallThatWaitsForASession() {
		TcpProxy proxy = new TcpProxy(ZooKeeperServerProcess.shared().address());
		this.proxies.add(proxy);
		WireFault silence = proxy.blackHole();
		ZooKeeperLockProvider refused = this.fixture.newProcess(this.fixture.client("127.0.0.1:" + proxy.port(),
				(builder) -> builder.authorization("unheard-of", "who:knows".getBytes(StandardCharsets.UTF_8))));
		StoreCall<AttemptResult> waiting = refused.newContender(this.key, () -> {
			// Ignored: the contender attempts once.
		}).attempt(OwnerId.random(), Duration.ofSeconds(60), false, Duration.ofHours(1));
		await().until(() -> silence.hits() > 0);
		assertThat(waiting.isDone()).isFalse();
		silence.close();
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> resultOf(waiting))
			.withMessageContaining("credentials")
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NOT_PERMITTED));
		assertThat(waiting.mayHaveBeenSent()).isFalse();
	}

	@Test
	void releaseWithoutPermissionIsUnclearAndCompletesWithIt() {
		String parent = NodePaths.parent(this.fixture.path(this.key).lockNode());
		LockGrant grant = ((AttemptResult.Granted) attempt(this.process, this.key)).grant();
		permit(parent, ZooDefs.Perms.READ | ZooDefs.Perms.CREATE | ZooDefs.Perms.ADMIN);
		for (int round = 0; round < 2; round++) {
			// Ends by itself, long before its time-out.
			assertThat(resultOf(this.process.release(this.key, grant.owner(), Duration.ofHours(1))))
				.isEqualTo(ReleaseOutcome.UNKNOWN);
		}
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> attempt(this.process, this.key))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NOT_PERMITTED));
		assertThat(attempt(this.rival, this.key)).isInstanceOf(AttemptResult.Busy.class);
		permit(parent, ZooDefs.Perms.ALL);
		await().atMost(PATIENCE).until(() -> attempt(this.rival, this.key) instanceof AttemptResult.Granted);
		await().atMost(PATIENCE).until(() -> release(grant) == ReleaseOutcome.RELEASED);
		assertThat(attempt(this.process, this.key)).as("the rival's lock").isInstanceOf(AttemptResult.Busy.class);
	}

	@Test
	void forbiddenEndOfAReservationIsTriedAgain() {
		String parent = NodePaths.parent(this.fixture.path(this.key).lockNode());
		ZooKeeperLockProvider absent = this.fixture.newProcess();
		// On a slow machine the reservation may have ended before.
		await().atMost(Duration.ofMinutes(1)).until(() -> isReservedWithoutTheRightToEndThat(absent, parent));
		ZooKeeperServerProcess server = ZooKeeperServerProcess.shared();
		long before = server.statistic("zk_packets_received");
		long begun = System.nanoTime();
		await().pollDelay(Duration.ofSeconds(1))
			.until(() -> attempt(this.rival, this.key) instanceof AttemptResult.Busy);
		long sent = server.statistic("zk_packets_received") - before;
		assertThat(sent).as("packets").isLessThan(60 * TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begun));
		permit(parent, ZooDefs.Perms.ALL);
		await().atMost(PATIENCE).until(() -> attempt(this.rival, this.key) instanceof AttemptResult.Granted);
	}

	private boolean isReservedWithoutTheRightToEndThat(ZooKeeperLockProvider absent, String parent) {
		LockGrant grant = ((AttemptResult.Granted) attempt(this.process, this.key)).grant();
		resultOf(absent.newContender(this.key, () -> {
			// Ignored: this waiter never uses its reservation.
		}).attempt(OwnerId.random(), Duration.ofSeconds(60), true, TIMEOUT));
		assertThat(release(grant)).isEqualTo(ReleaseOutcome.RELEASED);
		permit(parent, ZooDefs.Perms.ALL & ~ZooDefs.Perms.DELETE);
		String lockNode = this.fixture.path(this.key).lockNode();
		boolean reserved = this.fixture.children(parent).contains(lockNode.substring(parent.length() + 1));
		if (!reserved) {
			permit(parent, ZooDefs.Perms.ALL);
		}
		return reserved;
	}

}
