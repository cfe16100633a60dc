package io.distributedlock.jdbc;

import javax.sql.DataSource;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** MariaDB in the mode in which every assignment of a statement sees the old row. */
@Tag("matrix")
class MariaDbSimultaneousAssignmentTests extends MariaDbJdbcLockProviderTests {

	@Override
	DataSource database() {
		return TestDatabases.mariaDb("?sessionVariables=sql_mode='STRICT_TRANS_TABLES,SIMULTANEOUS_ASSIGNMENT'");
	}

	@Test
	void sqlModeIsSet() {
		assertThat(this.jdbc.queryForObject("SELECT @@sql_mode", String.class)).contains("SIMULTANEOUS_ASSIGNMENT");
	}

}
