package io.distributedlock.sample.control;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;

import org.junit.jupiter.api.Test;

import org.springframework.boot.web.server.PortInUseException;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class PortCheckTests {

	@Test
	void tellsAPortThatIsTaken() throws IOException {
		InetAddress loopback = InetAddress.getLoopbackAddress();
		try (ServerSocket other = new ServerSocket(0, 1, loopback)) {
			PortCheck check = new PortCheck(other.getLocalPort(), loopback);
			assertThatExceptionOfType(PortInUseException.class).isThrownBy(check::start);
		}
	}

	@Test
	void passesOnEveryOtherCause() throws IOException {
		// An address for documentation, which no machine has.
		PortCheck check = new PortCheck(0, InetAddress.getByName("192.0.2.1"));
		assertThatExceptionOfType(UncheckedIOException.class).isThrownBy(check::start)
			.withMessageContaining("192.0.2.1 cannot be opened")
			.withCauseInstanceOf(IOException.class);
	}

}
