package io.distributedlock.jdbc.rowlock;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.jdbc.LockTable;
import io.distributedlock.jdbc.TestDatabases;
import io.distributedlock.jdbc.dialect.MySqlCluster;
import io.distributedlock.jdbc.dialect.Sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** Databases that cannot keep row locks. No cluster runs here. */
class RowLockServerTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	@Test
	void severalPrimariesAreRefused() {
		LockTable table = mock(LockTable.class);
		given(table.supportsRowLocks(any())).willReturn(true);
		assertThatNoException().isThrownBy(() -> JdbcRowLockProvider.requireSuitable(table, TIMEOUT));
		given(table.multiPrimary(any())).willReturn("wsrep_on=ON (Galera)");
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> JdbcRowLockProvider.requireSuitable(table, TIMEOUT))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.STORE_UNSUITABLE))
			.withMessageContaining("wsrep_on=ON (Galera)");
	}

	@Test
	void galeraHasSeveralPrimaries() {
		assertThat(MySqlCluster.multiPrimary(Map.of(MySqlCluster.GALERA, "ON", MySqlCluster.GALERA_SIZE, "3")))
			.isEqualTo("wsrep_on=ON (Galera)");
		assertThat(MySqlCluster.multiPrimary(Map.of(MySqlCluster.GALERA, "ON", MySqlCluster.GALERA_SIZE, "1")))
			.isEqualTo("wsrep_on=ON (Galera)");
		assertThat(MySqlCluster.multiPrimary(Map.of(MySqlCluster.GALERA, "ON", MySqlCluster.GALERA_SIZE, "0")))
			.isNull();
		assertThat(MySqlCluster.multiPrimary(Map.of(MySqlCluster.GALERA, "OFF", MySqlCluster.GALERA_SIZE, "3")))
			.isNull();
	}

	@Test
	void groupWithoutASinglePrimaryHasSeveral() {
		assertThat(MySqlCluster.multiPrimary(Map.of(MySqlCluster.GROUP, "OFF")))
			.isEqualTo("group_replication_single_primary_mode=OFF (Group Replication)");
		assertThat(MySqlCluster.multiPrimary(Map.of(MySqlCluster.GROUP, "ON"))).isNull();
		assertThat(MySqlCluster.multiPrimary(Map.of())).isNull();
	}

	@Test
	@Tag("full")
	void singleServerPasses() throws SQLException {
		try (Connection connection = TestDatabases.mariaDb().getConnection()) {
			assertThat(Sql.query(connection, "SHOW GLOBAL VARIABLES LIKE 'wsrep_on'", (row) -> row.getString(2)))
				.containsExactly("OFF");
			assertThat(MySqlCluster.multiPrimary(connection)).isNull();
		}
	}

}
