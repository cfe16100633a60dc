package io.distributedlock.jdbc;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

import io.distributedlock.testkit.LockProviderContract;
import io.distributedlock.testkit.LockProviderFixture;

/**
 * Runs the contract against the database of {@code -Ddistributed-lock.test.jdbc-url},
 * with {@code -Ddistributed-lock.test.jdbc-user} and {@code -jdbc-password}. Creates the
 * table {@code distributed_lock} if it is missing, and deletes the locks in it.
 */
@Tag("matrix")
@EnabledIfSystemProperty(named = TestDatabases.GIVEN_URL, matches = ".+")
class GivenDatabaseLockProviderContractTests extends LockProviderContract {

	@Override
	protected LockProviderFixture createFixture() {
		return new JdbcFixture(Given.DATABASE);
	}

	/** Created with the first test that is enabled. */
	private static final class Given {

		private static final LockDatabase DATABASE = LockDatabase
			.shared(TestDatabases.withTable(TestDatabases.named()));

	}

}
