package io.distributedlock.autoconfigure;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.health.contributor.CompositeHealthContributor;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthContributor;
import org.springframework.boot.health.contributor.HealthIndicator;

import io.distributedlock.actuate.LockHealthIndicator;
import io.distributedlock.actuate.ManagedProvider;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.support.LockSettings;
import io.distributedlock.support.LockTemplate;

/**
 * Health of the locks of an application: unknown, without a look at any store, until
 * something has needed locks. The health itself needs none.
 */
final class LockHealth {

	private final ConfigurableListableBeanFactory beanFactory;

	private final ObjectProvider<LockEngines> engines;

	private final ObjectProvider<LockStoreLocation> locations;

	private final ObjectProvider<LockSettings> settings;

	/** One for each engine, so that checks that come together share their result. */
	private final ConcurrentMap<LockTemplate, LockHealthIndicator> indicators = new ConcurrentHashMap<>();

	LockHealth(ConfigurableListableBeanFactory beanFactory, ObjectProvider<LockEngines> engines,
			ObjectProvider<LockStoreLocation> locations, ObjectProvider<LockSettings> settings) {
		this.beanFactory = beanFactory;
		this.engines = engines;
		this.locations = locations;
		this.settings = settings;
	}

	/** Returns the health of the only provider, or one with a component for each. */
	HealthContributor contributor() {
		List<String> providers = Arrays
			.asList(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beanFactory, LockProvider.class));
		return (providers.size() > 1) ? new Components(providers) : (HealthIndicator) this::health;
	}

	private Health health() {
		return this.used().values().stream().findFirst().map(LockHealthIndicator::health).orElseGet(LockHealth::unused);
	}

	private static Health unused() {
		return Health.unknown().withDetail("reason", "Nothing has needed a lock so far").build();
	}

	/** Returns the health of each provider in use by its name, the primary one first. */
	private Map<String, LockHealthIndicator> used() {
		Map<String, LockHealthIndicator> used = new LinkedHashMap<>();
		if (!LockEngines.created(this.beanFactory).isEmpty()) {
			for (ManagedProvider provider : new ManagedProviders(this.engines.getObject(), this.locations).created()) {
				used.put(provider.name(), this.indicators.computeIfAbsent(provider.template(),
						(template) -> new LockHealthIndicator(provider, this.settings.getObject().callTimeout())));
			}
		}
		return used;
	}

	/** The health of several providers; those that are not in use are unknown. */
	private final class Components implements CompositeHealthContributor {

		private final List<String> providers;

		private Components(List<String> providers) {
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

		private Map<String, HealthContributor> components() {
			Map<String, HealthContributor> components = new LinkedHashMap<>(used());
			HealthIndicator unused = LockHealth::unused;
			this.providers.forEach((bean) -> components.putIfAbsent(name(bean), unused));
			return components;
		}

		/** Returns the name of a provider, and creates none to ask for it. */
		private String name(String bean) {
			boolean created = LockHealth.this.beanFactory.containsSingleton(bean);
			return created ? LockHealth.this.beanFactory.getBean(bean, LockProvider.class).name()
					: LockProviderBeans.ownName(bean);
		}

	}

}
