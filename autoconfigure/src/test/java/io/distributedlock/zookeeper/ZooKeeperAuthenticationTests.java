package io.distributedlock.zookeeper;

import java.nio.charset.StandardCharsets;
import java.time.Duration;

import org.apache.curator.framework.CuratorFramework;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;

import static io.distributedlock.testkit.StoreCalls.outcomeOf;
import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests with servers that serve only clients that have authenticated. They answer one
 * request and close the connection.
 */
@Tag("full")
class ZooKeeperAuthenticationTests {

	private static final Duration SESSION = Duration.ofSeconds(4);

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private final ZooKeeperServerProcess server = ZooKeeperServerProcess.demandingAuthentication("digest");

	private final String connectString = "127.0.0.1:" + this.server.port();

	private final ZooKeeperFixture fixture = new ZooKeeperFixture(this.connectString, SESSION);

	private final LockKey key = LockKey.of("authentication", "key");

	@AfterEach
	void close() {
		this.fixture.close();
		this.server.kill();
	}

	private static AttemptResult attempt(ZooKeeperLockProvider process, LockKey key) {
		return resultOf(process.newContender(key, () -> {
			// Ignored: the test attempts by itself.
		}).attempt(OwnerId.random(), Duration.ofSeconds(60), false, TIMEOUT), TIMEOUT);
	}

	private static void assertRefused(Runnable call) {
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(call::run)
			.withMessageContaining("demand an authentication")
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NOT_PERMITTED))
			.satisfies((ex) -> assertThat(ex.isEffectUnknown()).isFalse());
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void clientWithoutAuthenticationIsToldSoAgainAndAgain(boolean ensembleTracker) {
		// With the tracker each connection ends with the answer to a request of Curator.
		CuratorFramework client = this.fixture.client(this.connectString,
				(builder) -> builder.ensembleTracker(ensembleTracker));
		ZooKeeperLockProvider process = this.fixture.newProcess(client);
		assertRefused(() -> process.check(PATIENCE));
		await().during(SESSION.multipliedBy(2))
			.atMost(PATIENCE)
			.untilAsserted(() -> assertRefused(() -> attempt(process, this.key)));
	}

	@Test
	void authenticatedClientIsServed() {
		ZooKeeperLockProvider process = this.fixture.newProcess(this.fixture.client(this.connectString,
				(builder) -> builder.authorization("digest", "shop:secret".getBytes(StandardCharsets.UTF_8))));
		process.check(PATIENCE);
		assertThat(attempt(process, this.key)).isInstanceOf(AttemptResult.Granted.class);
	}

	@Test
	void clientThatIsRefusedLaterIsToldSoAndServedAgain() {
		this.server.changeDemandedAuthentication(false);
		ZooKeeperLockProvider process = this.fixture
			.newProcess(this.fixture.client(this.connectString, (builder) -> builder.ensembleTracker(true)));
		process.check(PATIENCE);
		LockGrant grant = ((AttemptResult.Granted) attempt(process, this.key)).grant();
		this.server.changeDemandedAuthentication(true);
		await().atMost(PATIENCE).until(() -> grant.sessionDeadline().until() - System.nanoTime() < 0);
		LockKey other = LockKey.of("authentication", "other");
		await().atMost(PATIENCE)
			.until(() -> catchThrowableOfType(LockProviderException.class, () -> attempt(process, other)),
					(ex) -> ex != null && ex.error() == LockError.NOT_PERMITTED);
		this.server.changeDemandedAuthentication(false);
		await().atMost(PATIENCE)
			.ignoreExceptionsInstanceOf(LockProviderException.class)
			.until(() -> attempt(process, other) instanceof AttemptResult.Granted);
	}

	/** The lock node exists as long as the session, which the client keeps. */
	@Test
	void refusedReleaseIsTriedAgain() {
		this.server.changeDemandedAuthentication(false);
		ZooKeeperLockProvider process = this.fixture.newProcess();
		ZooKeeperLockProvider rival = this.fixture.newProcess(this.fixture.client(this.connectString,
				(builder) -> builder.authorization("digest", "shop:secret".getBytes(StandardCharsets.UTF_8))));
		rival.check(PATIENCE);
		LockGrant grant = ((AttemptResult.Granted) attempt(process, this.key)).grant();
		long session = process.sessions().present().id();
		this.server.changeDemandedAuthentication(true);
		assertThat(outcomeOf(process.release(this.key, grant.owner(), TIMEOUT), TIMEOUT))
			.isEqualTo(ReleaseOutcome.UNKNOWN);
		this.server.changeDemandedAuthentication(false);
		await().atMost(PATIENCE)
			.ignoreExceptionsInstanceOf(LockProviderException.class)
			.until(() -> attempt(rival, this.key) instanceof AttemptResult.Granted);
		assertThat(process.sessions().present()).as("session").isNotNull();
		assertThat(process.sessions().present().id()).isEqualTo(session);
	}

}
