package io.distributedlock.jdbc;

import javax.sql.DataSource;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Every assignment of a statement sees the row as it was before. */
class MariaDbSimultaneousAssignmentTests extends MariaDbJdbcLockProviderTests {

	@Override
	DataSource database() {
		return TestDatabases.mariaDb("?sessionVariables=sql_mode='STRICT_TRANS_TABLES,SIMULTANEOUS_ASSIGNMENT'");
	}

	@Test
	void theModeIsInEffect() {
		assertThat(this.jdbc.queryForObject("SELECT @@sql_mode", String.class)).contains("SIMULTANEOUS_ASSIGNMENT");
	}

}
