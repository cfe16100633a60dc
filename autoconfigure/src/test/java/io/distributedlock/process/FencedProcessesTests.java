package io.distributedlock.process;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import javax.sql.DataSource;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.init.ScriptUtils;

import io.distributedlock.jdbc.TestDatabases;
import io.distributedlock.jdbc.WaitingTransactions;
import io.distributedlock.redis.TestRedis;
import io.distributedlock.testkit.Soak;
import io.distributedlock.zookeeper.TestZooKeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Processes that add to one balance under one lock, and are frozen past their lease at
 * the worst moments. Each transaction also writes a line of a ledger, so that the balance
 * has to be the number of lines: less is a lost update.
 */
@Tag("full")
class FencedProcessesTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private final List<LockProcess> processes = new ArrayList<>();

	private JdbcTemplate jdbc;

	private WaitingTransactions waiting;

	private List<String> properties;

	@AfterEach
	void close() {
		this.processes.forEach(LockProcess::close);
		if (this.properties != null && this.properties.contains(Store.REDIS.properties().get(0))) {
			try (var admin = TestRedis.admin()) {
				admin.keys("{fencing*").forEach(admin::del);
			}
		}
	}

	private void start(Database database, Store store, boolean fenced) throws SQLException {
		DataSource dataSource = database.create();
		this.jdbc = new JdbcTemplate(dataSource);
		this.waiting = new WaitingTransactions(dataSource);
		try (Connection connection = dataSource.getConnection()) {
			ScriptUtils.executeSqlScript(connection,
					new ClassPathResource("io/distributedlock/fencing/schema-" + database.platform + ".sql"));
			this.properties = new ArrayList<>(store.properties());
			this.properties
				.add("url=" + connection.getMetaData().getURL().replaceFirst("\\?.*", "") + database.settings());
		}
		this.jdbc.execute("CREATE TABLE account (name VARCHAR(20) PRIMARY KEY, balance INT)");
		this.jdbc.update("INSERT INTO account VALUES ('balance', 0), ('warm-up', 0)");
		this.jdbc.execute("CREATE TABLE ledger (name VARCHAR(20))");
		this.properties.add("user=" + database.user);
		this.properties.add("distributed-lock.fencing.enabled=" + fenced);
		this.properties.add("distributed-lock.fencing.initialize-schema=never");
	}

	private LockProcess worker() {
		LockProcess worker = LockProcess.start(FencedWorkerMain.class, this.properties);
		this.processes.add(worker);
		return worker;
	}

	/** Compares both in one statement, so that no transaction ends in between. */
	private int lost() {
		return this.jdbc.queryForObject("SELECT (SELECT count(*) FROM ledger WHERE name = 'balance') - balance"
				+ " FROM account WHERE name = 'balance'", Integer.class);
	}

	private int ledger() {
		return this.jdbc.queryForObject("SELECT count(*) FROM ledger WHERE name = 'balance'", Integer.class);
	}

	/** Its transaction begins when its lock has passed to a later holder. */
	private void frozenBeforeItsTransaction(Database database, Store store) throws Exception {
		start(database, store, true);
		LockProcess frozen = worker();
		LockProcess successor = worker();
		assertThat(frozen.answer()).isEqualTo("ready");
		assertThat(successor.answer()).isEqualTo("ready");
		assertThat(frozen.ask("add connect")).isEqualTo("at connect");
		frozen.stop();
		assertThat(successor.ask("add none")).isEqualTo("committed");
		frozen.resume();
		assertThat(frozen.ask("go on")).isEqualTo("failed StaleHolderException");
		assertThat(ledger()).isEqualTo(1);
		assertThat(lost()).isZero();
	}

	/** It has done its work, and the commit guard has found its lock held. */
	private void frozenAfterItsFence(Database database, Store store, boolean fenced) throws Exception {
		start(database, store, fenced);
		LockProcess frozen = worker();
		LockProcess successor = worker();
		assertThat(frozen.answer()).isEqualTo("ready");
		assertThat(successor.answer()).isEqualTo("ready");
		assertThat(frozen.ask("add commit")).isEqualTo("at commit");
		frozen.stop();
		successor.send("add none");
		// For the fence, or without one for the account's row.
		this.waiting.await(successor::pendingAnswer);
		frozen.resume();
		frozen.ask("go on");
		String answer = successor.answer();
		assertThat(answer).isEqualTo("committed");
		assertThat(ledger()).isEqualTo(2);
		assertThat(lost()).isEqualTo(fenced ? 0 : 1);
	}

	@ParameterizedTest
	@EnumSource
	@Tag("matrix")
	void lateTransactionIsRefusedByEachDatabase(Database database) throws Exception {
		frozenBeforeItsTransaction(database, Store.REDIS);
	}

	@Tag("matrix")
	@ParameterizedTest
	@EnumSource
	void lateTransactionIsRefusedWithLocksInZooKeeper(Database database) throws Exception {
		frozenBeforeItsTransaction(database, Store.ZOOKEEPER);
	}

	@Test
	void withoutFencesTheUpdateOfAFrozenHolderIsLost() throws Exception {
		frozenAfterItsFence(Database.POSTGRESQL, Store.REDIS, false);
	}

	@ParameterizedTest
	@EnumSource
	@Tag("matrix")
	void successorWaitsForATransactionThatIsUnderWay(Database database) throws Exception {
		frozenAfterItsFence(database, Store.REDIS, true);
	}

	@ParameterizedTest
	@EnumSource
	@Tag("matrix")
	void successorWaitsWithLocksInZooKeeper(Database database) throws Exception {
		frozenAfterItsFence(database, Store.ZOOKEEPER, true);
	}

	@Test
	@Timeout(value = 10, unit = TimeUnit.MINUTES)
	void noUpdateIsLostInRoundsOfFreezesAndWithoutFencesSomeAre() throws Exception {
		assertThat(rounds(Database.POSTGRESQL, Store.REDIS, true, 30)).isZero();
		this.processes.forEach(LockProcess::close);
		this.processes.clear();
		// It ends with the first loss, of which no single round is sure.
		assertThat(rounds(Database.POSTGRESQL, Store.REDIS, false, 300)).isPositive();
	}

	@ParameterizedTest
	@EnumSource
	@Soak
	void noUpdateIsLostInManyRounds(Database database) throws Exception {
		assertThat(rounds(database, Store.REDIS, true, 1000)).isZero();
	}

	/**
	 * Freezes processes at random moments until another one has gone on or waits for the
	 * database, which is past the lease of a frozen holder, and kills one sometimes.
	 * @return the number of lost updates; unfenced rounds end at the first one
	 */
	private int rounds(Database database, Store store, boolean fenced, int rounds) throws Exception {
		start(database, store, fenced);
		List<LockProcess> workers = new ArrayList<>(List.of(worker(), worker()));
		workers.forEach((worker) -> assertThat(worker.answer()).isEqualTo("ready"));
		workers.forEach((worker) -> worker.send("loop"));
		for (int round = 1; round <= rounds && (fenced || lost() == 0); round++) {
			LockProcess frozen = workers.get(ThreadLocalRandom.current().nextInt(workers.size()));
			Thread.sleep(ThreadLocalRandom.current().nextInt(300));
			int before = ledger();
			frozen.stop();
			await().pollInterval(WaitingTransactions.POLL_INTERVAL)
				.atMost(PATIENCE)
				.until(() -> ledger() > before || this.waiting.exist());
			if (round % 25 == 15) {
				frozen.kill();
				workers.remove(frozen);
				LockProcess fresh = worker();
				assertThat(fresh.answer()).isEqualTo("ready");
				fresh.send("loop");
				workers.add(fresh);
			}
			else {
				frozen.resume();
			}
		}
		workers.forEach((worker) -> worker.send("stop"));
		workers.forEach((worker) -> assertThat(worker.answer()).isEqualTo("stopped"));
		assertThat(ledger()).isPositive();
		return lost();
	}

	enum Store {

		REDIS {
			@Override
			List<String> properties() {
				return List.of("distributed-lock.provider=redis", "spring.data.redis.port=" + TestRedis.port());
			}
		},
		ZOOKEEPER {
			@Override
			List<String> properties() {
				return List.of("distributed-lock.provider=zookeeper",
						"distributed-lock.zookeeper.connect-string=" + TestZooKeeper.connectString(),
						"distributed-lock.zookeeper.session-timeout=4s");
			}
		};

		abstract List<String> properties();

	}

	enum Database {

		POSTGRESQL("postgresql", "postgres"), H2("h2", "sa"), MARIADB("mariadb", "root"), MYSQL("mysql", "root");

		private final String platform;

		private final String user;

		Database(String platform, String user) {
			this.platform = platform;
			this.user = user;
		}

		String settings() {
			return switch (this) {
				case MYSQL -> "?sslMode=DISABLED";
				// Else its own limit for a row lock would be shorter than the fence's.
				case H2 -> ";LOCK_TIMEOUT=60000";
				default -> "";
			};
		}

		DataSource create() {
			return switch (this) {
				case POSTGRESQL -> TestDatabases.postgres();
				case H2 -> TestDatabases.h2Server();
				case MARIADB -> TestDatabases.mariaDb();
				case MYSQL -> TestDatabases.mySql();
			};
		}

	}

}
