package io.distributedlock.zookeeper;

import java.util.concurrent.CompletionException;

import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.distributedlock.LockError;

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

	private static CompletionException failure(Code code) {
		return new CompletionException(KeeperException.create(code, "/locks"));
	}

}
