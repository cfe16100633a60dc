package io.distributedlock.autoconfigure;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
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
@ContextConfiguration(classes = AbstractWebSliceTests.Shop.class)
abstract class AbstractWebSliceTests {

	@MockitoBean
	private Payments payments;

	/** Expects the status 409 and the code DL-101. */
	abstract void expectBusy(String path);

	@Test
	void problemDetailsAreInTheSlice(@Autowired ApplicationContext context) {
		assertThat(context.getBeanProvider(LockOperations.class).stream()).isEmpty();
		given(this.payments.pay())
			.willThrow(new LockNotAcquiredException(LockKey.of("payments", "42"), Duration.ZERO, null));
		expectBusy("/payment");
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
