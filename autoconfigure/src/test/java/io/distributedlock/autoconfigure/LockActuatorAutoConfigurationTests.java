package io.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Test;
import org.mockito.BDDMockito;
import org.mockito.Mockito;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.CompositeHealthContributor;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthContributor;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockOperations;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.actuate.DistributedLocksEndpoint;
import io.distributedlock.actuate.DistributedLocksEndpointWebExtension;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.provider.LockProvider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.entry;

class LockActuatorAutoConfigurationTests {

	private static final Health UNUSED = Health.unknown()
		.withDetail("reason", "Nothing has needed a lock so far")
		.build();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
				LockHealthAutoConfiguration.class, LockEndpointAutoConfiguration.class))
		.withPropertyValues("distributed-lock.provider=local");

	private final ApplicationContextRunner exposed = this.runner
		.withPropertyValues("management.endpoints.web.exposure.include=distributedlocks");

	@Test
	void healthIsUnknownUntilSomethingNeedsALock() {
		this.runner.run((context) -> {
			HealthIndicator health = context.getBean(HealthIndicator.class);
			assertThat(health.health()).isEqualTo(UNUSED);
			assertThat(LockEngines.created(factoryOf(context))).isEmpty();
			context.getBean(LockOperations.class);
			assertThat(health.health()).satisfies((used) -> {
				assertThat(used.getStatus()).isEqualTo(Status.UP);
				assertThat(used.getDetails()).containsEntry("provider", "local");
			});
		});
	}

	@Test
	void healthOfSeveralProvidersHasAComponentForEach() {
		ApplicationContextRunner several = this.runner.withPropertyValues("distributed-lock.additional-providers=none");
		several.run((context) -> {
			CompositeHealthContributor health = context.getBean(CompositeHealthContributor.class);
			assertThat(components(health)).containsOnly(entry("local", UNUSED), entry("none", UNUSED));
			assertThat(LockEngines.created(factoryOf(context))).isEmpty();
			context.getBean(LockOperations.class);
			assertThat(components(health)).containsOnlyKeys("local", "none").containsEntry("none", UNUSED);
		});
		several.withBean(LockUser.class).run((context) -> {
			CompositeHealthContributor health = context.getBean(CompositeHealthContributor.class);
			assertThat(components(health)).containsOnlyKeys("local", "none")
				.allSatisfy((name, used) -> assertThat(used.getStatus()).isEqualTo(Status.UP));
			assertThat(health.getContributor("none")).isSameAs(health.getContributor("none"));
			assertThat(health.getContributor("redis")).isNull();
		});
	}

	@Test
	void componentOfAnOwnProviderHasItsNameFromTheStart() {
		LockProvider own = Mockito.mock(LockProvider.class, Mockito.withSettings().stubOnly());
		BDDMockito.given(own.name()).willReturn("etcd");
		this.runner.withPropertyValues("distributed-lock.additional-providers=etcdProvider")
			.withBean("etcdProvider", LockProvider.class, () -> own)
			.run((context) -> {
				CompositeHealthContributor health = context.getBean(CompositeHealthContributor.class);
				assertThat(components(health)).containsOnly(entry("local", UNUSED), entry("etcd", UNUSED));
			});
	}

	@Test
	void healthTellsOfAnEngineThatCannotBeCreatedUntilItCan() {
		AtomicBoolean up = new AtomicBoolean();
		this.runner.withPropertyValues("distributed-lock.provider=late").withBean("late", LockProvider.class, () -> {
			if (!up.get()) {
				throw LockProviderException.nothingSent(LockError.STORE_FAILED, "late", "it is down", null);
			}
			return new LocalLockProvider();
		}, (definition) -> definition.setLazyInit(true)).run((context) -> {
			HealthIndicator health = context.getBean(HealthIndicator.class);
			assertThat(health.health()).isEqualTo(UNUSED);
			assertThat(catchThrowable(() -> context.getBean(LockOperations.class))).isNotNull();
			assertThat(health.health()).satisfies((failed) -> {
				assertThat(failed.getStatus()).isEqualTo(Status.DOWN);
				assertThat(failed.getDetails()).containsEntry("errorId", "DL-301");
			});
			up.set(true);
			assertThat(health.health().getStatus()).isEqualTo(Status.UP);
		});
	}

	@Test
	void healthOfAChildContextIsThatOfTheLocksOfItsParent() {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
			.withPropertyValues("distributed-lock.provider=local")
			.run((parent) -> new ApplicationContextRunner().withParent(parent)
				.withConfiguration(AutoConfigurations.of(LockHealthAutoConfiguration.class))
				.run((context) -> {
					HealthIndicator health = context.getBean(HealthIndicator.class);
					assertThat(health.health()).isEqualTo(UNUSED);
					parent.getBean(LockOperations.class);
					assertThat(health.health().getStatus()).isEqualTo(Status.UP);
				}));
	}

	private static Map<String, Health> components(CompositeHealthContributor health) {
		return health.stream()
			.collect(Collectors.toMap((entry) -> entry.name(),
					(entry) -> ((HealthIndicator) entry.contributor()).health()));
	}

	private static ConfigurableListableBeanFactory factoryOf(AssertableApplicationContext context) {
		return context.getSourceApplicationContext(ConfigurableApplicationContext.class).getBeanFactory();
	}

	@Test
	void healthBacksOff() {
		this.runner.withPropertyValues("management.health.distributedlocks.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean(HealthContributor.class));
		this.runner.withPropertyValues("management.health.defaults.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean(HealthContributor.class));
		this.runner.withBean("distributedlocksHealthIndicator", HealthIndicator.class, () -> () -> Health.up().build())
			.run((context) -> assertThat(context).hasSingleBean(HealthContributor.class)
				.doesNotHaveBean("distributedlocksHealthContributor"));
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
