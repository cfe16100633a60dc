package io.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.mockito.BDDMockito;
import org.mockito.Mockito;
import org.postgresql.ds.PGSimpleDataSource;

import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.CompositeHealthContributor;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthContributor;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockOperations;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.actuate.DistributedLocksEndpoint;
import io.distributedlock.actuate.DistributedLocksEndpointWebExtension;
import io.distributedlock.autoconfigure.jdbc.JdbcLockAutoConfiguration;
import io.distributedlock.autoconfigure.observe.LockEndpointAutoConfiguration;
import io.distributedlock.autoconfigure.observe.LockEndpointProperties;
import io.distributedlock.autoconfigure.observe.LockHealthAutoConfiguration;
import io.distributedlock.jdbc.TestDatabases;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.local.NoLockProvider;
import io.distributedlock.provider.LockObserver;
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
			assertThat(context.getBean(LockEngines.class).all()).isEmpty();
			context.getBean(LockOperations.class);
			assertThat(health.health()).satisfies((used) -> {
				assertThat(used.getStatus()).isEqualTo(Status.UP);
				assertThat(used.getDetails()).containsEntry("provider", "local");
			});
		});
	}

	@Test
	void healthOfSeveralProvidersHasAComponentForEach() {
		ApplicationContextRunner several = this.runner.withBean("none", NoLockProvider.class);
		several.run((context) -> {
			CompositeHealthContributor health = context.getBean(CompositeHealthContributor.class);
			assertThat(components(health)).containsOnly(entry("local", UNUSED), entry("none", UNUSED));
			assertThat(context.getBean(LockEngines.class).all()).isEmpty();
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
		this.runner.withBean("etcdProvider", LockProvider.class, () -> own).run((context) -> {
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
	@Tag("full")
	void healthIsDownWhileADatabaseRefusesTheFirstLock() {
		PGSimpleDataSource database = TestDatabases.withTable(TestDatabases.postgres());
		PGSimpleDataSource administration = TestDatabases.postgres();
		allowConnections(false, database, administration);
		this.runner.withConfiguration(AutoConfigurations.of(JdbcLockAutoConfiguration.class))
			.withBean(DataSource.class, () -> pool(database))
			.withPropertyValues("distributed-lock.provider=jdbc", "distributed-lock.call-timeout=2s",
					"spring.application.name=shop")
			.run((context) -> {
				HealthIndicator health = context.getBean(HealthIndicator.class);
				assertThat(health.health()).isEqualTo(UNUSED);
				LockRequest request = LockRequest.of(LockKey.of("order", "42"));
				assertThat(catchThrowable(
						() -> context.getBean(LockOperations.class).tryAcquire(request.withWaitTime(Duration.ZERO))))
					.isInstanceOf(LockProviderException.class);
				assertThat(health.health().getStatus()).isEqualTo(Status.DOWN);
				allowConnections(true, database, administration);
				Awaitility.await()
					.atMost(Duration.ofMinutes(1))
					.untilAsserted(() -> assertThat(health.health().getStatus()).isEqualTo(Status.UP));
				assertThat(health.health().getDetails()).containsEntry("provider", "jdbc");
				context.getBean(LockOperations.class).acquire(request.withWaitTime(Duration.ofMinutes(1))).close();
			});
	}

	private static HikariDataSource pool(PGSimpleDataSource database) {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(database.getURL());
		pool.setUsername(database.getUser());
		pool.setConnectionTimeout(1000);
		return pool;
	}

	private static void allowConnections(boolean allowed, PGSimpleDataSource database, DataSource administration) {
		TestDatabases.execute(administration,
				"ALTER DATABASE " + database.getDatabaseName() + " WITH ALLOW_CONNECTIONS " + allowed);
	}

	@Test
	void engineThatFailsAgainKeepsNoOtherDown() {
		Set<String> failing = ConcurrentHashMap.newKeySet();
		failing.addAll(Set.of("local", "none"));
		LockObserver observer = new LockObserver() {

			@Override
			public LockObserver ofProvider(String provider) {
				if (failing.contains(provider)) {
					throw LockProviderException.nothingSent(LockError.STORE_FAILED, provider, "it is down", null);
				}
				return this;
			}

		};
		this.runner.withBean("none", NoLockProvider.class)
			.withBean(LockObserver.class, () -> observer)
			.run((context) -> {
				LockEngines engines = context.getBean(LockEngines.class);
				assertThat(catchThrowable(() -> engines.of("distributedLockLocalProvider"))).isNotNull();
				assertThat(catchThrowable(() -> engines.of("none"))).isNotNull();
				CompositeHealthContributor health = context.getBean(CompositeHealthContributor.class);
				assertThat(statuses(health)).containsOnly(entry("local", Status.DOWN), entry("none", Status.DOWN));
				failing.remove("none");
				assertThat(statuses(health)).containsOnly(entry("local", Status.DOWN), entry("none", Status.UP));
			});
	}

	private static Map<String, Status> statuses(CompositeHealthContributor health) {
		return components(health).entrySet()
			.stream()
			.collect(Collectors.toMap(Map.Entry::getKey, (entry) -> entry.getValue().getStatus()));
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
	void readingCreatesNoEngineAndNoTable() {
		DataSource database = TestDatabases.h2();
		LockKey key = LockKey.of("order", "42");
		this.exposed.withConfiguration(AutoConfigurations.of(JdbcLockAutoConfiguration.class))
			.withBean(DataSource.class, () -> database)
			.withPropertyValues("distributed-lock.provider=jdbc", "distributed-lock.jdbc.initialize-schema=always",
					"spring.application.name=shop")
			.run((context) -> {
				DistributedLocksEndpoint endpoint = context.getBean(DistributedLocksEndpoint.class);
				assertThat(endpoint.locks().providers()).isEmpty();
				assertThat(endpoint.lock("jdbc", key.encoded())).isNull();
				assertThat(context.getBean(LockEngines.class).all()).isEmpty();
				assertThat(new JdbcTemplate(database)
					.queryForList("SELECT 1 FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_NAME = 'DISTRIBUTED_LOCK'"))
					.isEmpty();
				context.getBean(LockOperations.class).acquire(LockRequest.of(key)).close();
				assertThat(endpoint.locks().providers()).containsOnlyKeys("jdbc");
			});
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
				LockRequest request = LockRequest.of(LockKey.of("seats", "13A"));
				try (LockLease lease = context.getBean(LockOperations.class).acquire(request)) {
					assertThat(lease.isHeld()).isTrue();
					assertThat(context.getBean(DistributedLocksEndpoint.class)
						.locks()
						.providers()
						.get("local")
						.held()
						.get(0)
						.key()).isEqualTo(show.equals("always") ? "seats:13A" : "******");
				}
			});
		}
	}

}
