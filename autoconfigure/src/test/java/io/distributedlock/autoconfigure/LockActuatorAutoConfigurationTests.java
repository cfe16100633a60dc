package io.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.Test;
import org.mockito.Mockito;

import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.CompositeHealthContributor;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthContributor;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.distributedlock.LockKey;
import io.distributedlock.LockOperations;
import io.distributedlock.LockRequest;
import io.distributedlock.actuate.DistributedLocksEndpoint;
import io.distributedlock.actuate.DistributedLocksEndpointWebExtension;
import io.distributedlock.actuate.LockHealthIndicator;

import static org.assertj.core.api.Assertions.assertThat;

class LockActuatorAutoConfigurationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
				LockHealthAutoConfiguration.class, LockEndpointAutoConfiguration.class))
		.withPropertyValues("distributed-lock.provider=local");

	private final ApplicationContextRunner exposed = this.runner
		.withPropertyValues("management.endpoints.web.exposure.include=distributedlocks");

	@Test
	void healthHasOneIndicatorForOneProvider() {
		this.runner.run((context) -> assertThat(context.getBean("distributedlocksHealthContributor"))
			.isInstanceOf(LockHealthIndicator.class));
	}

	@Test
	void healthIsACompositeOfSeveralProviders() {
		this.runner.withPropertyValues("distributed-lock.additional-providers=none")
			.run((context) -> assertThat(context.getBean(CompositeHealthContributor.class).stream())
				.extracting((entry) -> entry.name())
				.containsExactlyInAnyOrder("local", "none"));
	}

	@Test
	void healthBacksOff() {
		this.runner.withPropertyValues("management.health.distributedlocks.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean(HealthContributor.class));
		this.runner.withPropertyValues("management.health.defaults.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean(HealthContributor.class));
		this.runner.withBean("distributedlocksHealthIndicator", HealthIndicator.class, () -> () -> Health.up().build())
			.run((context) -> assertThat(context).hasSingleBean(HealthContributor.class)
				.doesNotHaveBean(LockHealthIndicator.class));
		this.runner.withBean(LockOperations.class, () -> Mockito.mock(LockOperations.class))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(HealthContributor.class));
		this.runner.withClassLoader(new FilteredClassLoader(HealthContributor.class))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean("distributedlocksHealthContributor"));
	}

	@Test
	void endpointIsThereOnlyIfItIsExposed() {
		this.runner.run((context) -> assertThat(context).doesNotHaveBean(DistributedLocksEndpoint.class)
			.doesNotHaveBean(LockEndpointProperties.class));
		this.exposed.run((context) -> assertThat(context).hasSingleBean(DistributedLocksEndpoint.class)
			.hasSingleBean(DistributedLocksEndpointWebExtension.class));
		this.exposed.withPropertyValues("management.endpoint.distributedlocks.access=NONE")
			.run((context) -> assertThat(context).doesNotHaveBean(DistributedLocksEndpoint.class));
	}

	@Test
	void endpointExposedOverJmxAloneHasNoWebExtension() {
		this.runner
			.withPropertyValues("spring.jmx.enabled=true", "management.endpoints.jmx.exposure.include=distributedlocks",
					"management.endpoints.web.exposure.include=")
			.run((context) -> assertThat(context).hasSingleBean(DistributedLocksEndpoint.class)
				.doesNotHaveBean(DistributedLocksEndpointWebExtension.class));
	}

	@Test
	void endpointBacksOff() {
		DistributedLocksEndpoint own = new DistributedLocksEndpoint(List::of, List::of, Duration.ofSeconds(1),
				Show.NEVER);
		this.exposed.withBean(DistributedLocksEndpoint.class, () -> own)
			.run((context) -> assertThat(context.getBean(DistributedLocksEndpoint.class)).isSameAs(own));
		DistributedLocksEndpointWebExtension web = new DistributedLocksEndpointWebExtension(own, Show.NEVER, Set.of());
		this.exposed.withBean(DistributedLocksEndpointWebExtension.class, () -> web)
			.run((context) -> assertThat(context.getBean(DistributedLocksEndpointWebExtension.class)).isSameAs(web));
		this.exposed.withBean(LockOperations.class, () -> Mockito.mock(LockOperations.class))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(DistributedLocksEndpoint.class));
		this.exposed.withClassLoader(new FilteredClassLoader(Endpoint.class))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean("distributedLocksEndpoint"));
	}

	@Test
	void keysAreMaskedWhereNobodyIsAuthorizedUnlessAlwaysShown() {
		for (String show : List.of("never", "when-authorized", "always")) {
			this.exposed.withPropertyValues("distributed-lock.endpoint.show-keys=" + show).run((context) -> {
				context.getBean(LockOperations.class).acquire(LockRequest.of(LockKey.of("seats", "13A")));
				assertThat(
						context.getBean(DistributedLocksEndpoint.class).locks().providers().get("local").held().get(0))
					.satisfies(
							(held) -> assertThat(held.key()).isEqualTo(show.equals("always") ? "seats:13A" : "******"));
			});
		}
	}

}
