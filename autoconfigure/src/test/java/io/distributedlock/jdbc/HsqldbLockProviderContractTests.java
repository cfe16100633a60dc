package io.distributedlock.jdbc;

import org.junit.jupiter.api.Test;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockKey;
import io.distributedlock.LockRequest;
import io.distributedlock.testkit.LockProviderContract;
import io.distributedlock.testkit.LockProviderFixture;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class HsqldbLockProviderContractTests extends LockProviderContract {

	private static final LockDatabase DATABASE = LockDatabase.shared(TestDatabases.withTable(TestDatabases.hsqldb()));

	@Override
	protected LockProviderFixture createFixture() {
		return new JdbcFixture(DATABASE);
	}

	@Test
	void shareIsRefused() {
		LockKey key = freshKey();
		LockRequest request = LockRequest.of(key).shared();
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> process().locks().acquire(request))
			.withMessageContaining("DL-629");
	}

}
