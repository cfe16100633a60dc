package io.distributedlock.jdbc;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;

import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.postgresql.ds.PGSimpleDataSource;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.testkit.StoreFaults;
import io.distributedlock.testkit.TcpProxy;
import io.distributedlock.testkit.TimeBounds;
import io.distributedlock.testkit.WireFault;
import io.distributedlock.testkit.WireFault.Effect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** Shares whose transaction commits, and whose process does not learn of it. */
@Tag("full")
class ShareFaultTests {

	private static final LockRequest REQUEST = LockRequest.of(LockKey.of("fault", "share"))
		.withLease(Duration.ofMinutes(1))
		.withWaitTime(Duration.ofMillis(500));

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	/** Is sent again where a machine that stalls does not answer in time. */
	private static final LockRequest PATIENT = REQUEST.withWaitTime(PATIENCE);

	private final List<AutoCloseable> opened = new ArrayList<>();

	@AfterEach
	void close() throws Exception {
		Collections.reverse(this.opened);
		for (AutoCloseable each : this.opened) {
			each.close();
		}
	}

	private <T extends AutoCloseable> T remember(T each) {
		this.opened.add(each);
		return each;
	}

	private LockTemplate locks(JdbcFixture fixture, LockProvider process) {
		TestDatabases.warmUp(process);
		LockSettings settings = LockSettings.defaults().withCallTimeout(fixture.callTimeout());
		return remember(new LockTemplate(process, settings, fixture.timer(), List.of(), List.of()));
	}

	private static WireFault loseCommit(TcpProxy proxy) {
		return proxy.onReplyTo(ShareFaultTests::isCommit, Effect.BLACK_HOLE).once();
	}

	/** Not a packet that sets the isolation READ COMMITTED. */
	private static boolean isCommit(byte[] packet) {
		String text = new String(packet, StandardCharsets.ISO_8859_1);
		return text.contains("COMMIT") && !text.contains("COMMITTED");
	}

	@ParameterizedTest
	@EnumSource
	void shareWhoseGrantWasNotAnsweredIsReleased(Store store) {
		JdbcFixture fixture = remember(store.fixture.get());
		StoreFaults faults = fixture.faults().orElseThrow();
		TcpProxy proxy = remember(new TcpProxy(faults.servers()));
		LockTemplate locks = locks(fixture, faults.newProcess(proxy));
		loseCommit(proxy);
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> locks.acquire(REQUEST.shared()));
		await().atMost(PATIENCE).until(() -> fixture.heldEntries() == 0);
		locks(fixture, fixture.newProcess()).acquire(PATIENT).close();
	}

	@ParameterizedTest
	@EnumSource
	void releaseThatWasNotAnsweredEndsItsOwnShareOnly(Store store) {
		JdbcFixture fixture = remember(store.fixture.get());
		StoreFaults faults = fixture.faults().orElseThrow();
		TcpProxy proxy = remember(new TcpProxy(faults.servers()));
		LockTemplate locks = locks(fixture, faults.newProcess(proxy));
		try (LockLease others = locks(fixture, fixture.newProcess()).acquire(PATIENT.shared())) {
			String result = locks.execute(PATIENT.shared(), (lease) -> {
				loseCommit(proxy);
				return "result";
			});
			assertThat(result).isEqualTo("result");
			// The row of the key, and one share
			await().atMost(PATIENCE).until(() -> fixture.heldEntries() == 2);
			others.ensureHeld();
		}
		await().atMost(PATIENCE).until(() -> fixture.heldEntries() == 0);
	}

	@ParameterizedTest
	@EnumSource
	void renewalThatWasNotAnsweredIsRepeated(Store store) {
		try {
			assertRenewalIsRepeated(store, TimeBounds.withLoad(Duration.ofSeconds(2)));
		}
		catch (ConditionTimeoutException ex) {
			// A machine that stalls ends a short lease, a mistake each one.
			assertRenewalIsRepeated(store, Duration.ofSeconds(9));
		}
	}

	private void assertRenewalIsRepeated(Store store, Duration leaseTime) {
		JdbcFixture fixture = remember(store.fixture.get());
		StoreFaults faults = fixture.faults().orElseThrow();
		TcpProxy proxy = remember(new TcpProxy(faults.servers()));
		LockTemplate locks = locks(fixture, faults.newProcess(proxy));
		LockTemplate rival = locks(fixture, fixture.newProcess());
		try (LockLease lease = locks.acquire(PATIENT.shared().withLease(leaseTime))) {
			WireFault lost = loseCommit(proxy);
			await().atMost(PATIENCE).until(() -> lost.hits() == 1);
			await().during(leaseTime)
				.atMost(leaseTime.plus(PATIENCE))
				.ignoreExceptionsInstanceOf(LockProviderException.class)
				.until(() -> {
					LockLease granted = rival.tryAcquire(REQUEST.withWaitTime(Duration.ZERO));
					assertThat(granted != null && lease.isHeld()).as("granted beside the share").isFalse();
					return granted == null && lease.isHeld();
				});
		}
		await().atMost(PATIENCE).until(() -> fixture.heldEntries() == 0);
	}

	private static PGSimpleDataSource postgres() {
		PGSimpleDataSource database = TestDatabases.postgres();
		// So that each commit is sent as a text.
		database.setPrepareThreshold(0);
		return database;
	}

	enum Store {

		MARIADB(() -> new JdbcFixture(TestDatabases.withTable(TestDatabases.mariaDb()), MySqlFaults::new)),
		POSTGRESQL(() -> new JdbcFixture(TestDatabases.withTable(postgres()), PostgresFaults::new));

		private final Supplier<JdbcFixture> fixture;

		Store(Supplier<JdbcFixture> fixture) {
			this.fixture = fixture;
		}

	}

}
