package io.distributedlock.jdbc;

import java.time.Duration;

import javax.sql.DataSource;

import org.junit.jupiter.api.Tag;

@Tag("matrix")
@EnabledIfMySqlRuns
class MySqlWithMariaDbDriverJdbcLockProviderTests extends AbstractJdbcLockProviderTests {

	@Override
	DataSource database() {
		return TestDatabases.mySqlWithMariaDbDriver();
	}

	/** MySQL bounds waits for a row in whole seconds only, and looks once a second. */
	@Override
	Duration impatience() {
		return Duration.ofSeconds(5);
	}

	/** MySQL returns nothing of a row that it has not granted. */
	@Override
	int statementsOfBusyAttempt() {
		return 2;
	}

}
