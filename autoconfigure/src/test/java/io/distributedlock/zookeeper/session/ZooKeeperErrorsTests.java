package io.distributedlock.zookeeper.session;

import java.util.concurrent.CompletionException;

import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.distributedlock.LockError;
import io.distributedlock.LockException;

import static org.assertj.core.api.Assertions.assertThat;

class ZooKeeperErrorsTests {

	@ParameterizedTest
	@EnumSource(names = { "CONNECTIONLOSS", "SESSIONEXPIRED", "OPERATIONTIMEOUT" })
	void errorsOfAConnectionMayPass(Code code) {
		assertThat(ZooKeeperErrors.mayPass(failure(code))).isTrue();
	}

	@ParameterizedTest
	@EnumSource(names = { "NOAUTH", "INVALIDACL", "NOCHILDRENFOREPHEMERALS", "SESSIONCLOSEDREQUIRESASLAUTH" })
	void refusalsDoNotPass(Code code) {
		assertThat(ZooKeeperErrors.mayPass(failure(code))).isFalse();
	}

	@ParameterizedTest
	@EnumSource(names = { "NOAUTH", "AUTHFAILED", "SESSIONCLOSEDREQUIRESASLAUTH" })
	void refusalsOfTheClientAreReportedAsSuch(Code code) {
		assertThat(ZooKeeperErrors.translate(failure(code)).error()).isEqualTo(LockError.NOT_PERMITTED);
	}

	@ParameterizedTest
	@EnumSource(names = { "OPERATIONTIMEOUT", "REQUESTTIMEOUT" })
	void timeOutOfTheClientNamesNoPropertyOfLocks(Code code) {
		LockException failure = ZooKeeperErrors.translate(failure(code));
		assertThat(failure.error()).isEqualTo(LockError.STORE_TIMEOUT);
		assertThat(failure).hasMessageContaining("KeeperErrorCode").hasMessageNotContaining("distributed-lock.");
	}

	private static CompletionException failure(Code code) {
		return new CompletionException(KeeperException.create(code, "/locks"));
	}

}
