package io.distributedlock.autoconfigure.observe;

import java.util.Arrays;
import java.util.List;
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
import io.distributedlock.autoconfigure.LockEngines.Engine;
import io.distributedlock.autoconfigure.LockStoreLocation;
import io.distributedlock.provider.LockProvider;

/**
 * Health of the locks of one provider: unknown, without a look at its store, until
 * something has needed locks. The health itself needs none; it only tries again what
 * something has needed in vain.
 *
 * @param beanName the name of the provider's bean
 * @param beanFactory the factory of that bean
 * @param engines the engines, of which it may have one
 * @param locations the locations of the stores
 * @param used set with the engine, so that checks that come together share a result
 */
record LockHealth(String beanName, ConfigurableListableBeanFactory beanFactory, LockEngines engines,
		ObjectProvider<LockStoreLocation> locations,
		AtomicReference<@Nullable LockHealthIndicator> used) implements HealthIndicator {

	/** Returns the health of the only provider, or one with a component for each. */
	static HealthContributor of(ConfigurableListableBeanFactory beanFactory, LockEngines engines,
			ObjectProvider<LockStoreLocation> locations) {
		List<LockHealth> all = Arrays
			.stream(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beanFactory, LockProvider.class))
			.map((name) -> new LockHealth(name, beanFactory, engines, locations, new AtomicReference<>()))
			.toList();
		return (all.size() == 1) ? all.get(0) : new Components(all);
	}

	@Override
	public Health health() {
		LockHealthIndicator indicator = this.used.get();
		if (indicator != null) {
			return indicator.health();
		}
		if (this.engines.failure(this.beanName) != null) {
			// An instance that is not ready for that reason would otherwise stay so,
			// because no request reaches it that needs a lock.
			try {
				this.engines.of(this.beanName);
			}
			catch (RuntimeException ex) {
				return LockHealthIndicator.failed(ex);
			}
		}
		Engine engine = this.engines.existing(this.beanName);
		return (engine != null) ? indicator(engine).health()
				: Health.unknown().withDetail("reason", "Nothing has needed a lock so far").build();
	}

	private LockHealthIndicator indicator(Engine engine) {
		LockProvider provider = engine.provider();
		LockHealthIndicator created = new LockHealthIndicator(
				new ManagedProvider(provider.name(), provider, engine.template(), location(provider)),
				this.engines.settings().callTimeout());
		LockHealthIndicator other = this.used.compareAndExchange(null, created);
		return (other != null) ? other : created;
	}

	/** A location that cannot be told makes no store ill. */
	private @Nullable String location(LockProvider provider) {
		try {
			return StoreDescriptions.location(provider, this.locations);
		}
		catch (RuntimeException ex) {
			return null;
		}
	}

	/** Returns the name of the provider, and does not create it to ask for it. */
	private String name() {
		String name = this.beanFactory.containsSingleton(this.beanName)
				? this.beanFactory.getBean(this.beanName, LockProvider.class).name() : null;
		return StringUtils.hasText(name) ? name : LockBeans.qualifier(this.beanName);
	}

	/** The health of several providers. */
	private record Components(List<LockHealth> providers) implements CompositeHealthContributor {

		@Override
		public @Nullable HealthContributor getContributor(String name) {
			return StoreDescriptions.byName(this.providers, LockHealth::name).get(name);
		}

		@Override
		public Stream<Entry> stream() {
			return StoreDescriptions.byName(this.providers, LockHealth::name)
				.entrySet()
				.stream()
				.map((entry) -> new Entry(entry.getKey(), entry.getValue()));
		}

	}

}
