package io.distributedlock.jdbc;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.util.FileSystemUtils;

import io.distributedlock.FreePorts;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockLostException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.EarlyRenewals;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.jdbc.connection.LockDataSource;
import io.distributedlock.provider.LockTimer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** PostgreSQL restarts, or an asynchronous standby is promoted before it had a grant. */
@Tag("full")
class PostgresFailOverTests {

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private final LockTimer timer = new LockTimer();

	private final List<AutoCloseable> resources = new ArrayList<>(List.of(this.timer));

	private final int primaryPort = FreePorts.next();

	private final int standbyPort = FreePorts.next();

	private final Path directory = directory();

	@AfterEach
	void close() throws Exception {
		Collections.reverse(this.resources);
		for (AutoCloseable resource : this.resources) {
			resource.close();
		}
		FileSystemUtils.deleteRecursively(this.directory);
	}

	private static Path directory() {
		try {
			return Files.createTempDirectory("distributed-lock-standby");
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void grantMissingOnTheStandbyIsLostAndTheNextTokenIsHigher() throws Exception {
		EmbeddedPostgres primary = startWithTable();
		JdbcTemplate standby = startStandby();
		LockTemplate holder = locks();
		LockTemplate rival = locks();
		LockLease replicated = holder.acquire(request("replicated"));
		await().atMost(PATIENCE)
			.until(() -> standby.queryForObject("SELECT count(*) FROM distributed_lock WHERE owner NOT LIKE 'free%'",
					Long.class) == 1);
		stopReplication(standby);
		LockLease unreplicated = holder.acquire(request("unreplicated"));
		AtomicInteger losses = new AtomicInteger();
		unreplicated.onLost(losses::incrementAndGet);
		assertThat(rival.tryAcquire(request("unreplicated").withWaitTime(Duration.ZERO))).isNull();

		kill(primary);
		assertThat(standby.queryForObject("SELECT pg_promote()", Boolean.class)).isTrue();

		try (LockLease next = rival.acquire(request("unreplicated").withWaitTime(PATIENCE))) {
			assertThat(next.fencingToken()).isGreaterThan(unreplicated.fencingToken());
			await().atMost(PATIENCE).until(() -> losses.get() == 1);
			assertThat(unreplicated.isHeld()).isFalse();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(unreplicated::ensureHeld);
			assertThat(next.isHeld()).isTrue();
		}
		assertThat(replicated.isHeld()).isTrue();
		assertThat(rival.tryAcquire(request("replicated").withWaitTime(Duration.ZERO))).isNull();
		replicated.close();
		rival.acquire(request("replicated").withWaitTime(PATIENCE)).close();
	}

	@Test
	void locksAndOrdersOutlastARestart() throws Exception {
		EmbeddedPostgres primary = startWithTable();
		LockTemplate holder = locks();
		LockTemplate rival = locks();
		LockLease held = holder.acquire(request("restart"));
		primary.close();
		CompletableFuture<LockLease> waiting = rival.acquireAsync(request("restart").withWaitTime(PATIENCE));
		this.resources.set(this.resources.indexOf(primary), start(this.directory.resolve("primary"), this.primaryPort));
		assertThat(rival.tryAcquire(request("other").withWaitTime(PATIENCE))).isNotNull();
		assertThat(held.isHeld()).isTrue();
		assertThat(waiting).isNotDone();
		held.close();
		try (LockLease next = waiting.get(1, TimeUnit.MINUTES)) {
			assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
		}
	}

	private static LockRequest request(String key) {
		return LockRequest.of(LockKey.of(key)).withLease(Duration.ofSeconds(30));
	}

	/** Renews early, so that the loss is soon told. */
	private LockTemplate locks() {
		String url = "jdbc:postgresql://127.0.0.1:%d,127.0.0.1:%d/postgres?targetServerType=primary&hostRecheckSeconds=0"
			.formatted(this.primaryPort, this.standbyPort);
		JdbcLockProvider provider = new JdbcLockProvider(
				LockDataSource.connect(url, "postgres", "", null, 4, Duration.ofSeconds(2)),
				JdbcLockSettings.defaults("app"), this.timer);
		this.resources.add(provider);
		TestDatabases.warmUp(provider);
		LockTemplate locks = new LockTemplate(provider,
				EarlyRenewals.after(0.05, LockSettings.defaults().withCallTimeout(Duration.ofSeconds(2))), this.timer,
				List.of(), List.of());
		this.resources.add(locks);
		return locks;
	}

	private EmbeddedPostgres startWithTable() throws Exception {
		Path data = this.directory.resolve("primary");
		try (EmbeddedPostgres first = start(data, this.primaryPort)) {
			TestDatabases.withTable(first.getPostgresDatabase());
		}
		Path copy = this.directory.resolve("standby");
		FileSystemUtils.copyRecursively(data, copy);
		Files.setPosixFilePermissions(copy, PosixFilePermissions.fromString("rwx------"));
		EmbeddedPostgres primary = start(data, this.primaryPort);
		this.resources.add(primary);
		return primary;
	}

	private JdbcTemplate startStandby() throws Exception {
		Path data = this.directory.resolve("standby");
		Files.createFile(data.resolve("standby.signal"));
		Files.writeString(data.resolve("postgresql.auto.conf"),
				"primary_conninfo = 'host=127.0.0.1 port=%d user=postgres'\n".formatted(this.primaryPort),
				StandardOpenOption.APPEND);
		EmbeddedPostgres standby = start(data, this.standbyPort);
		this.resources.add(standby);
		return new JdbcTemplate(standby.getPostgresDatabase());
	}

	private EmbeddedPostgres start(Path data, int port) throws IOException {
		return EmbeddedPostgres.builder()
			.setPort(port)
			.setOverrideWorkingDirectory(this.directory.resolve("binaries").toFile())
			.setDataDirectory(data)
			.setCleanDataDirectory(false)
			.setPGStartupWait(PATIENCE)
			.setRegisterShutdownHook(false)
			.start();
	}

	private static void stopReplication(JdbcTemplate standby) {
		standby.execute("ALTER SYSTEM SET primary_conninfo = ''");
		standby.queryForObject("SELECT pg_reload_conf()", Boolean.class);
		await().atMost(PATIENCE)
			.until(() -> standby.queryForObject("SELECT count(*) FROM pg_stat_wal_receiver", Long.class) == 0);
	}

	private void kill(EmbeddedPostgres primary) throws Exception {
		String id = Files.readAllLines(this.directory.resolve("primary").resolve("postmaster.pid")).get(0);
		ProcessHandle.of(Long.parseLong(id.trim())).orElseThrow().destroyForcibly();
		await().atMost(PATIENCE).ignoreExceptions().until(() -> ProcessHandle.of(Long.parseLong(id.trim())).isEmpty());
		this.resources.remove(primary);
	}

}
