package io.distributedlock.zookeeper;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;

import io.distributedlock.actuate.LockHealthIndicator;
import io.distributedlock.actuate.ManagedProvider;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.testkit.FrozenProcesses;
import io.distributedlock.testkit.TcpProxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests of the health of a real server. */
class ZooKeeperHealthTests {

	private static final Duration CALL_TIMEOUT = Duration.ofSeconds(1);

	private final ZooKeeperServerProcess server = ZooKeeperServerProcess.shared();

	private final ZooKeeperFixture fixture = new ZooKeeperFixture(TestZooKeeper.connectString(),
			ZooKeeperFixture.SESSION);

	private final TcpProxy proxy = new TcpProxy(this.server.address());

	private final ZooKeeperLockProvider process = this.fixture.newProcess("127.0.0.1:" + this.proxy.port());

	private final LockTimer timer = new LockTimer();

	private final LockTemplate template = new LockTemplate(this.process, LockSettings.defaults(), this.timer, List.of(),
			List.of());

	private final LockHealthIndicator indicator = new LockHealthIndicator(
			new ManagedProvider("zookeeper", this.process, this.template, null), CALL_TIMEOUT);

	@AfterEach
	void close() {
		this.template.close();
		this.fixture.close();
		this.proxy.close();
		this.timer.close();
	}

	private Health awaitStatus(Status status) {
		return await().atMost(Duration.ofMinutes(1))
			.until(() -> this.indicator.health(), (health) -> status.equals(health.getStatus()));
	}

	private Health boundedHealth() {
		long begin = System.nanoTime();
		Health health = this.indicator.health();
		// A client endures a silent server for 20 s, a stalled machine adds less.
		assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(CALL_TIMEOUT.plusSeconds(5));
		return health;
	}

	@Test
	void frozenServerIsDownAlthoughTheSessionLasts() {
		awaitStatus(Status.UP);
		try (FrozenProcesses frozen = FrozenProcesses.freeze(this.server.handle())) {
			Health health = boundedHealth();
			assertThat(health.getStatus()).isEqualTo(Status.DOWN);
			assertThat(health.getDetails()).containsEntry("errorId", "DL-302");
		}
		awaitStatus(Status.UP);
	}

	@Test
	void stoppedServerIsDown() {
		awaitStatus(Status.UP);
		this.proxy.refuse();
		awaitStatus(Status.DOWN);
		assertThat(boundedHealth().getStatus()).isEqualTo(Status.DOWN);
	}

	@Test
	void newerFormatIsOutOfService() {
		awaitStatus(Status.UP);
		ZooKeeperFixture.call(() -> this.fixture.admin()
			.setData()
			.forPath(this.fixture.root(), "7".getBytes(StandardCharsets.UTF_8)));
		assertThat(awaitStatus(Status.OUT_OF_SERVICE).getDetails()).containsEntry("errorId", "DL-306");
	}

}
