package io.distributedlock.autoconfigure;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
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
@WebMvcTest
class WebMvcSliceTests {

	@MockitoBean
	private Payments payments;

	@Test
	void problemDetailsAreInTheSlice(@Autowired MockMvcTester mvc, @Autowired ApplicationContext context) {
		assertThat(context.getBeanProvider(LockOperations.class).stream()).isEmpty();
		given(this.payments.pay())
			.willThrow(new LockNotAcquiredException(LockKey.of("payments", "42"), Duration.ZERO, null));
		assertThat(mvc.get().uri("/payment")).hasStatus(409).bodyJson().extractingPath("$.code").isEqualTo("DL-101");
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
