package io.distributedlock.jdbc;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.postgresql.ds.PGSimpleDataSource;

import io.distributedlock.testkit.LockProviderContract;
import io.distributedlock.testkit.LockProviderFixture;

/** The contract behind PgBouncer in transaction mode. */
@Tag("matrix")
class PgBouncerLockProviderContractTests extends LockProviderContract {

	private static PGSimpleDataSource database;

	private static PgBouncerServer pgBouncer;

	@BeforeAll
	static void start() {
		database = TestDatabases.withTable(TestDatabases.postgres());
		pgBouncer = PgBouncerServer.start(database, "transaction");
	}

	@AfterAll
	static void stop() throws Exception {
		if (pgBouncer != null) {
			pgBouncer.close();
		}
	}

	@Override
	protected LockProviderFixture createFixture() {
		return new JdbcFixture(pgBouncer.through(database));
	}

}
