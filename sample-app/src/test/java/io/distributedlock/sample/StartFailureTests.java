package io.distributedlock.sample;

import java.net.ConnectException;
import java.sql.SQLException;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.web.server.PortInUseException;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;

import static org.assertj.core.api.Assertions.assertThat;

class StartFailureTests {

	@Test
	void namesATakenPortAndAnotherOne() {
		assertThat(StartFailure.describe(new IllegalStateException(new PortInUseException(8080))))
			.startsWith("Port 8080 is taken")
			.endsWith("SERVER_PORT=8081");
	}

	@Test
	void namesTheCauseAndWhereItOccurred() {
		SQLException refused = new SQLException("Connection to 127.0.0.1:1 refused",
				new ConnectException("No\n route"));
		assertThat(StartFailure.describe(new BeanCreationException("dataSource", "failed", refused)))
			.isEqualTo("Connection to 127.0.0.1:1 refused: No; route");
	}

	@Test
	void leavesMessagesOfTheLibraryAsTheyAre() {
		LockConfigurationException mistake = new LockConfigurationException(LockError.NO_KEYS, "No key", "Name one",
				new IllegalStateException("inner"));
		assertThat(StartFailure.describe(new BeanCreationException("locks", "failed", mistake))).contains("No key")
			.doesNotContain("inner", "failed");
	}

	@Test
	void namesExceptionsWithoutAMessage() {
		assertThat(StartFailure.describe(new IllegalStateException())).isEqualTo("java.lang.IllegalStateException");
	}

}
