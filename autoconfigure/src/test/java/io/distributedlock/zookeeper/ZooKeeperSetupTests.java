package io.distributedlock.zookeeper;

import java.nio.charset.StandardCharsets;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.server.auth.DigestAuthenticationProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.zookeeper.session.NodePaths;
import io.distributedlock.zookeeper.session.PersistentNodes;
import io.distributedlock.zookeeper.session.ZooKeeperOperations;

import static io.distributedlock.testkit.StoreCalls.outcomeOf;
import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests of the set-up below nodes that permit little, and with a server that is too old.
 */
@Tag("full")
class ZooKeeperSetupTests {

	private static final Duration SESSION = Duration.ofSeconds(10);

	private static final Duration TIMEOUT = Duration.ofSeconds(10);

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private static final AtomicInteger NUMBERS = new AtomicInteger();

	private final String above = "/set-up-" + NUMBERS.incrementAndGet();

	private final String root = this.above + "/root";

	private final ZooKeeperFixture fixture = new ZooKeeperFixture(TestZooKeeper.connectString(), SESSION, this.root);

	private final CuratorFramework operator = client("operator");

	private final LockKey key = LockKey.of("set-up", "key");

	@AfterEach
	void close() {
		this.fixture.close();
	}

	@Test
	void runningProcessStopsGrantingWhileTheFormatIsNewer() {
		ZooKeeperLockProvider process = this.fixture.newProcess();
		writeFormat("2");
		await().atMost(PATIENCE).untilAsserted(() -> assertRefusedByFormat(process));
		// Two heartbeats, which prove that the session lasts.
		await().during(SESSION.multipliedBy(6).dividedBy(10))
			.atMost(PATIENCE)
			.untilAsserted(() -> assertRefusedByFormat(process));
		writeFormat("1");
		await().atMost(PATIENCE)
			.ignoreExceptions()
			.until(() -> attempt(process, this.key, false), AttemptResult.Granted.class::isInstance);
	}

	private void writeFormat(String number) {
		ZooKeeperFixture
			.call(() -> this.fixture.admin().setData().forPath(this.root, number.getBytes(StandardCharsets.UTF_8)));
	}

	private void assertRefusedByFormat(ZooKeeperLockProvider process) {
		assertThatExceptionOfType(LockException.class)
			.isThrownBy(() -> attempt(process, LockKey.of("set-up", UUID.randomUUID().toString()), false))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NEWER_FORMAT));
	}

	private CuratorFramework client(String user) {
		return this.fixture.client(TestZooKeeper.connectString(), identity(user));
	}

	private static UnaryOperator<CuratorFrameworkFactory.Builder> identity(String user) {
		return (builder) -> builder.authorization("digest", (user + ":secret").getBytes(StandardCharsets.UTF_8));
	}

	private static Id id(String user) {
		try {
			return new Id("digest", DigestAuthenticationProvider.generateDigest(user + ":secret"));
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Creates a node on which all clients but the operator have a few permissions. */
	private void create(String path, int permissions) {
		List<ACL> acl = List.of(new ACL(Perms.ALL, id("operator")), new ACL(permissions, ZooDefs.Ids.ANYONE_ID_UNSAFE));
		ZooKeeperFixture.call(() -> this.operator.create().withACL(acl).forPath(path, new byte[0]));
	}

	/** Creates the nodes that the documentation tells an operator to create. */
	private void createTree() {
		create(this.above, Perms.READ);
		create(this.root, Perms.READ);
		create(this.root + "/processes", Perms.CREATE | Perms.DELETE);
		create(this.root + "/locks", Perms.READ);
		create(this.root + "/queues", Perms.READ);
		for (String bucket : NodePaths.buckets()) {
			create(this.root + "/locks/" + bucket, Perms.CREATE | Perms.DELETE);
			create(this.root + "/queues/" + bucket, Perms.CREATE);
		}
	}

	private static AttemptResult attempt(ZooKeeperLockProvider process, LockKey key, boolean willWait) {
		return attempt(newContender(process, key), willWait);
	}

	private static LockContender newContender(ZooKeeperLockProvider process, LockKey key) {
		return process.newContender(key, () -> {
			// Ignored: the test attempts by itself.
		});
	}

	private static AttemptResult attempt(LockContender contender, boolean willWait) {
		return resultOf(contender.attempt(OwnerId.random(), Duration.ofSeconds(60), willWait, TIMEOUT), TIMEOUT);
	}

	/** Hands a lock over to a process that waits, and names the holder to another. */
	private void assertLocksWork(ZooKeeperLockProvider holder, ZooKeeperLockProvider waiter) {
		for (int round = 0; round < 3; round++) {
			LockKey fresh = LockKey.of("set-up", "key-" + round);
			LockGrant grant = ((AttemptResult.Granted) attempt(holder, fresh, false)).grant();
			LockContender contender = newContender(waiter, fresh);
			AttemptResult.Busy busy = (AttemptResult.Busy) attempt(contender, true);
			assertThat(busy.holder()).isNotNull();
			assertThat(busy.holder().toString()).doesNotContain("session 0x");
			assertThat(outcomeOf(holder.release(fresh, grant.owner(), TIMEOUT), TIMEOUT))
				.isEqualTo(ReleaseOutcome.RELEASED);
			LockGrant next = ((AttemptResult.Granted) attempt(contender, true)).grant();
			assertThat(attempt(holder, fresh, false)).isInstanceOf(AttemptResult.Busy.class);
			assertThat(outcomeOf(waiter.release(fresh, next.owner(), TIMEOUT), TIMEOUT))
				.isEqualTo(ReleaseOutcome.RELEASED);
		}
	}

	@Test
	void rootBelowNodesThatPermitOnlyReadsIsUsed() {
		create(this.above, Perms.READ);
		create(this.root, Perms.ALL);
		assertLocksWork(this.fixture.newProcess(), this.fixture.newProcess());
	}

	@Test
	void treeOfAnOperatorIsUsedWithTheDocumentedPermissions() {
		createTree();
		assertLocksWork(this.fixture.newProcess(), this.fixture.newProcess());
	}

	@Test
	void treeOfAnOperatorIsUsedByOneIdentityWithAclCreator() {
		createTree();
		ZooKeeperLockProvider holder = this.fixture.newProcess(client("shop"), ZooDefs.Ids.CREATOR_ALL_ACL);
		holder.check(PATIENCE);
		ZooKeeperLockProvider waiter = this.fixture.newProcess(client("shop"), ZooDefs.Ids.CREATOR_ALL_ACL);
		waiter.check(PATIENCE);
		assertLocksWork(holder, waiter);
	}

	@Test
	void setUpCreatesTheParentsOfAllLockNodesAndQueues() {
		this.fixture.newProcess();
		// The parent of requests follows the set-up.
		await().untilAsserted(() -> assertThat(this.fixture.children(this.root)).containsExactlyInAnyOrder("locks",
				"queues", "processes", "unlocks"));
		assertThat(this.fixture.children(this.root + "/locks"))
			.containsExactlyInAnyOrderElementsOf(NodePaths.buckets());
		assertThat(this.fixture.children(this.root + "/queues"))
			.containsExactlyInAnyOrderElementsOf(NodePaths.buckets());
		assertThat(ZooKeeperFixture.call(() -> this.operator.getData().forPath(this.root))).asString().isEqualTo("1");
	}

	@Test
	void processesThatStartTogetherAreAllSetUp() {
		List<ZooKeeperLockProvider> processes = IntStream.range(0, 6)
			.mapToObj((number) -> this.fixture.newProcess(TestZooKeeper.connectString()))
			.toList();
		processes.forEach((process) -> process.check(PATIENCE));
		assertLocksWork(processes.get(0), processes.get(5));
	}

	@Test
	void nodeThatExistsByNowNeedsNoPermissionToCreateIt() {
		ZooKeeperLockProvider process = this.fixture.newProcess();
		create(this.above + "/sealed", Perms.READ);
		create(this.above + "/sealed/present", Perms.READ);
		PersistentNodes nodes = new PersistentNodes(new NodePaths(this.root, ZooKeeperFixture.PREFIX));
		ZooKeeperOperations operations = process.sessions().present().operations();
		assertThat(nodes.ensureWithParents(operations, this.above + "/sealed/present").join()).isTrue();
		assertThat(nodes.ensureWithParents(operations, this.above + "/sealed/absent")).failsWithin(PATIENCE)
			.withThrowableThat()
			.withMessageContaining("CREATE on the node '" + this.above + "/sealed'");
	}

	@Test
	void missingPermissionIsReportedWithItsNode() {
		create(this.above, Perms.READ);
		assertRefused("CREATE", this.above);
		create(this.root, Perms.CREATE);
		assertRefused("READ", this.root);
		permit(this.root, Perms.READ);
		assertRefused("CREATE", this.root);
		create(this.root + "/processes", Perms.READ);
		create(this.root + "/locks", Perms.READ);
		create(this.root + "/queues", Perms.CREATE);
		assertRefused("READ", this.root + "/queues");
		permit(this.root + "/queues", Perms.ALL);
		assertRefused("CREATE", this.root + "/locks");
		permit(this.root + "/locks", Perms.ALL);
		assertRefused("CREATE", this.root + "/processes");
		permit(this.root + "/processes", Perms.CREATE);
		assertLocksWork(this.fixture.newProcess(), this.fixture.newProcess());
	}

	private void permit(String path, int permissions) {
		List<ACL> acl = List.of(new ACL(Perms.ALL, id("operator")), new ACL(permissions, ZooDefs.Ids.ANYONE_ID_UNSAFE));
		ZooKeeperFixture.call(() -> this.operator.setACL().withACL(acl).forPath(path));
	}

	private void assertRefused(String permission, String node) {
		ZooKeeperLockProvider process = this.fixture.newProcess(TestZooKeeper.connectString());
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> process.check(PATIENCE))
			.withMessageContaining(permission + " on the node '" + node + "'")
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NOT_PERMITTED))
			.satisfies((ex) -> assertThat(ex.isEffectUnknown()).isFalse());
		process.close();
	}

	@Test
	void missingPermissionOfALockIsReportedWithItsNode() {
		createTree();
		String bucket = NodePaths.parent(this.fixture.path(this.key).lockNode());
		String queues = NodePaths.parent(this.fixture.path(this.key).queue());
		ZooKeeperLockProvider process = this.fixture.newProcess();
		permit(bucket, Perms.DELETE);
		assertRefused(process, "CREATE on the node '" + bucket + "'");
		permit(bucket, Perms.CREATE | Perms.DELETE);
		await().atMost(PATIENCE)
			.ignoreExceptionsInstanceOf(LockProviderException.class)
			.until(() -> attempt(process, this.key, false) instanceof AttemptResult.Granted);
		permit(queues, Perms.READ);
		assertRefused(this.fixture.newProcess(), "CREATE on the node '" + queues + "'");
	}

	private void assertRefused(ZooKeeperLockProvider process, String message) {
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> attempt(process, this.key, true))
			.withMessageContaining(message)
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NOT_PERMITTED));
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aclOfTheCreatorWithoutAnIdentityIsAMistake(boolean guarded) {
		if (guarded) {
			// Nodes of another client, which this one cannot even read.
			ZooKeeperLockProvider owner = this.fixture.newProcess(client("shop"), ZooDefs.Ids.CREATOR_ALL_ACL);
			owner.check(PATIENCE);
		}
		ZooKeeperLockProvider stranger = this.fixture.newProcess(this.fixture.client(TestZooKeeper.connectString()),
				ZooDefs.Ids.CREATOR_ALL_ACL);
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> stranger.check(PATIENCE))
			.withMessageContaining("distributed-lock.zookeeper.acl")
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.INVALID_PROPERTY))
			.satisfies((ex) -> assertThat(ex.action()).contains("auth.credentials", "certificate", "SASL", "open"));
	}

	@Test
	void otherIdentityThanTheCreatorsLacksAPermission() {
		this.fixture.newProcess(client("shop"), ZooDefs.Ids.CREATOR_ALL_ACL).check(PATIENCE);
		ZooKeeperLockProvider other = this.fixture.newProcess(client("other"), ZooDefs.Ids.CREATOR_ALL_ACL);
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> other.check(PATIENCE))
			.withMessageContaining("READ on the node '" + this.root + "'");
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void serverThatIsTooOldIsRefusedAndLeftInPeace(boolean ensembleTracker) throws Exception {
		CuratorFramework client = this.fixture.client(OldZooKeeper.connectString(),
				(builder) -> builder.ensembleTracker(ensembleTracker));
		ZooKeeperLockProvider process = this.fixture.newProcess(client);
		assertTooOld(() -> process.check(PATIENCE));
		// The refused request has cost the connection; the client gets the next.
		await().atMost(PATIENCE).ignoreExceptions().until(() -> client.checkExists().forPath("/zookeeper") != null);
		long session = client.getZookeeperClient().getZooKeeper().getSessionId();
		await().during(Duration.ofSeconds(3)).atMost(PATIENCE).untilAsserted(() -> {
			assertThat(client.getZookeeperClient().isConnected()).isTrue();
			assertTooOld(() -> attempt(process, this.key, false));
		});
		assertThat(client.getZookeeperClient().getZooKeeper().getSessionId()).isEqualTo(session);
	}

	private static void assertTooOld(Runnable call) {
		assertThatExceptionOfType(LockException.class).isThrownBy(call::run)
			.isInstanceOf(LockConfigurationException.class)
			.withMessageContaining("needs ZooKeeper 3.6 or later")
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.STORE_TOO_OLD));
	}

}
