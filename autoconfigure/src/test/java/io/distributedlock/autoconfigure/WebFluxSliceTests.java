package io.distributedlock.autoconfigure;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.webflux.test.autoconfigure.WebFluxTest;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import io.distributedlock.LockKey;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockOperations;
import io.distributedlock.annotation.DistributedLock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;

/**
 * A slice has no locks, but a mock may throw their exceptions.
 */
@WebFluxTest
class WebFluxSliceTests {

	@MockitoBean
	private Payments payments;

	@Test
	void problemDetailsAreInTheSlice(@Autowired WebTestClient client, @Autowired ApplicationContext context) {
		assertThat(context.getBeanProvider(LockOperations.class).stream()).isEmpty();
		given(this.payments.pay())
			.willThrow(new LockNotAcquiredException(LockKey.of("payments", "42"), Duration.ZERO, null));
		client.get()
			.uri("/payment")
			.exchange()
			.expectStatus()
			.isEqualTo(409)
			.expectBody()
			.jsonPath("$.code")
			.isEqualTo("DL-101");
	}

	@SpringBootConfiguration
	@EnableAutoConfiguration
	@Import(Checkout.class)
	static class Shop {

	}

	static class Payments {

		@DistributedLock
		String pay() {
			return "paid";
		}

	}

	@RestController
	static class Checkout {

		private final Payments payments;

		Checkout(Payments payments) {
			this.payments = payments;
		}

		@GetMapping("/payment")
		String pay() {
			return this.payments.pay();
		}

	}

}
