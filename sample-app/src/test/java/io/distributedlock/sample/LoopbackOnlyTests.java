package io.distributedlock.sample;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.http.HttpStatus;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.web.server.ResponseStatusException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class LoopbackOnlyTests {

	private final MockHttpServletRequest request = new MockHttpServletRequest("POST", "/api/workers/1/kill");

	@ParameterizedTest
	@ValueSource(strings = { "127.0.0.1", "127.0.0.53", "0:0:0:0:0:0:0:1", "::1", "::ffff:127.0.0.1" })
	void admitsThisMachine(String address) throws Exception {
		this.request.setRemoteAddr(address);
		assertThat(handle()).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "192.0.2.1", "10.0.0.1", "2001:db8::1", "::ffff:192.0.2.1" })
	void refusesOtherMachines(String address) {
		this.request.setRemoteAddr(address);
		assertRefused();
	}

	@Test
	void refusesOtherMachinesWhateverTheyClaim() {
		this.request.setRemoteAddr("192.0.2.1");
		this.request.addHeader("X-Forwarded-For", "127.0.0.1");
		this.request.addHeader("Forwarded", "for=127.0.0.1");
		assertRefused();
	}

	@Test
	void refusesPagesOfOtherSites() {
		this.request.addHeader("Origin", "http://other.example");
		assertRefused();
	}

	@ParameterizedTest
	@ValueSource(strings = { "other.example", "localhost.other.example", "127.0.0.1.other.example", "192.0.2.1" })
	void refusesPagesWhoseSiteWasPointedToThisMachine(String host) {
		this.request.setServerName(host);
		this.request.addHeader("Origin", "http://" + host);
		assertRefused();
	}

	@ParameterizedTest
	@ValueSource(strings = { "localhost", "127.0.0.1", "[::1]", "::1" })
	void admitsRequestsForThisMachine(String host) throws Exception {
		this.request.setServerName(host);
		assertThat(handle()).isTrue();
	}

	private void assertRefused() {
		assertThatExceptionOfType(ResponseStatusException.class).isThrownBy(this::handle)
			.satisfies((refusal) -> assertThat(refusal.getStatusCode()).isEqualTo(HttpStatus.FORBIDDEN));
	}

	private boolean handle() throws Exception {
		return new LoopbackOnly().preHandle(this.request, new MockHttpServletResponse(), this);
	}

}
