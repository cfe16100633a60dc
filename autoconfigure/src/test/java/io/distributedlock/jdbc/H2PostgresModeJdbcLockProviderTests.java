package io.distributedlock.jdbc;

import javax.sql.DataSource;

import org.junit.jupiter.api.Tag;

@Tag("matrix")
class H2PostgresModeJdbcLockProviderTests extends AbstractJdbcLockProviderTests {

	@Override
	DataSource database() {
		return TestDatabases.h2(";MODE=PostgreSQL;DATABASE_TO_LOWER=TRUE;DEFAULT_NULL_ORDERING=HIGH");
	}

}
