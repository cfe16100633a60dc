package io.distributedlock.autoconfigure.observe;

import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.health.contributor.CompositeHealthContributor;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthContributor;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.util.StringUtils;

import io.distributedlock.actuate.LockHealthIndicator;
import io.distributedlock.actuate.ManagedProvider;
import io.distributedlock.autoconfigure.LockBeans;
import io.distributedlock.autoconfigure.LockEngines;
import io.distributedlock.autoconfigure.LockStoreLocation;
import io.distributedlock.autoconfigure.ProviderEngine;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.provider.LockProvider;

/**
 * Health of the locks of an application: unknown, without a look at any store, until
 * something has needed locks. The health itself needs none; it only tries again what
 * something has needed in vain.
 */
final class LockHealth {

	private final ConfigurableListableBeanFactory beanFactory;

	private final ObjectProvider<LockStoreLocation> locations;

	LockHealth(ConfigurableListableBeanFactory beanFactory, ObjectProvider<LockStoreLocation> locations) {
		this.beanFactory = beanFactory;
		this.locations = locations;
	}

	/** Returns the health of the only provider, or one with a component for each. */
	HealthContributor contributor() {
		List<Provider> providers = Arrays
			.stream(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beanFactory, LockProvider.class))
			.map(Provider::new)
			.toList();
		return (providers.size() == 1) ? providers.get(0) : new Components(providers);
	}

	/** The health of one provider. */
	private final class Provider implements HealthIndicator {

		private final String beanName;

		/**
		 * Set with the first engine, so that checks that come together share a result.
		 */
		private final AtomicReference<@Nullable LockHealthIndicator> used = new AtomicReference<>();

		private Provider(String beanName) {
			this.beanName = beanName;
		}

		@Override
		public Health health() {
			LockHealthIndicator indicator = this.used.get();
			if (indicator != null) {
				return indicator.health();
			}
			LockEngines engines = LockEngines.present(LockHealth.this.beanFactory);
			if (engines != null) {
				ProviderEngine engine = engines.existing(this.beanName);
				if (engine != null) {
					return indicator(engine, engines).health();
				}
				if (engines.failure(this.beanName) != null) {
					return retried(engines);
				}
			}
			return Health.unknown().withDetail("reason", "Nothing has needed a lock so far").build();
		}

		/**
		 * Tries again what something has needed in vain: an instance that is not ready
		 * for that reason would otherwise stay so, because no request reaches it that
		 * needs a lock.
		 */
		private Health retried(LockEngines engines) {
			try {
				engines.of(this.beanName);
			}
			catch (RuntimeException ex) {
				return LockHealthIndicator.failed(ex);
			}
			ProviderEngine engine = engines.existing(this.beanName);
			return (engine != null) ? indicator(engine, engines).health() : Health.unknown().build();
		}

		private LockHealthIndicator indicator(ProviderEngine engine, LockEngines engines) {
			LockProvider provider = engine.provider();
			LockHealthIndicator created = new LockHealthIndicator(
					new ManagedProvider(provider.name(), provider, engine.template(), location(provider)),
					engines.settings().callTimeout());
			LockHealthIndicator other = this.used.compareAndExchange(null, created);
			return (other != null) ? other : created;
		}

		/** A location that cannot be told makes no store ill. */
		private @Nullable String location(LockProvider provider) {
			try {
				return ManagedProviders.location(provider, LockHealth.this.locations);
			}
			catch (RuntimeException ex) {
				return null;
			}
		}

		/** Returns the name of the provider, and does not create it to ask for it. */
		private String name() {
			String name = LockHealth.this.beanFactory.containsSingleton(this.beanName)
					? LockHealth.this.beanFactory.getBean(this.beanName, LockProvider.class).name() : null;
			return StringUtils.hasText(name) ? name : LockBeans.qualifier(this.beanName);
		}

	}

	/** The health of several providers. */
	private static final class Components implements CompositeHealthContributor {

		private final List<Provider> providers;

		private Components(List<Provider> providers) {
			this.providers = providers;
		}

		@Override
		public @Nullable HealthContributor getContributor(String name) {
			return components().get(name);
		}

		@Override
		public Stream<Entry> stream() {
			return components().entrySet().stream().map((entry) -> new Entry(entry.getKey(), entry.getValue()));
		}

		/** Distinguishes providers of one name by a number. */
		private Map<String, Provider> components() {
			Map<String, Provider> components = new LinkedHashMap<>();
			for (Provider provider : this.providers) {
				String name = provider.name();
				String unique = name;
				for (int number = 2; components.putIfAbsent(unique, provider) != null; number++) {
					unique = name + "-" + number;
				}
			}
			return components;
		}

	}

}
