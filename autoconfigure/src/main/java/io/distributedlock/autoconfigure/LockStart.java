package io.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.Environment;

import io.distributedlock.autoconfigure.LockEngines.Engine;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.interceptor.LockAttributeSource;
import io.distributedlock.provider.LockProvider;

/**
 * The start of locking, once all singletons are ready and all locked methods are known.
 * An application that needs locks gets a line for each store, with the reason of its
 * choice, its location and the defaults, and a check of each store. One that needs none
 * creates no engine and no client of a store; only what the definitions of the beans tell
 * is checked.
 */
final class LockStart implements SmartInitializingSingleton {

	private static final Log logger = LogFactory.getLog(LockStart.class);

	private final ConfigurableListableBeanFactory beanFactory;

	private final LockEngines engines;

	private final Set<Engine> reported = ConcurrentHashMap.newKeySet();

	private final AtomicBoolean checked = new AtomicBoolean();

	LockStart(ConfigurableListableBeanFactory beanFactory, LockEngines engines) {
		this.beanFactory = beanFactory;
		this.engines = engines;
	}

	@Override
	public void afterSingletonsInstantiated() {
		if (this.engines.all().isEmpty() && !hasLockedBean()) {
			this.engines.onCreate(this::reportLater);
			// Another thread may have needed an engine before it could see the mark.
			if (this.engines.all().isEmpty()) {
				requireProvider();
				return;
			}
		}
		check();
	}

	/**
	 * Creates all engines, reports them and checks their stores, once. A check that
	 * failed is repeated: it may have ended the start of a child context only.
	 */
	void check() {
		if (this.checked.compareAndSet(false, true)) {
			try {
				this.engines.createAll();
				this.engines.onCreate(this::reportLater);
				List<Engine> all = this.engines.all();
				report(all);
				boolean failFast = this.beanFactory.getBean(DistributedLockProperties.class).failFast();
				new StoreConnectionCheck(locations(), this.engines.settings().callTimeout(), failFast).check(all);
			}
			catch (RuntimeException ex) {
				this.checked.set(false);
				throw ex;
			}
		}
	}

	/**
	 * Reports an engine that is first needed when the application has started. A location
	 * that cannot be told keeps nobody from locking.
	 */
	private void reportLater(Engine engine) {
		try {
			report(List.of(engine));
		}
		catch (RuntimeException ex) {
			logger.warn("The store '" + engine.provider().name() + "' keeps locks, but cannot be described", ex);
		}
	}

	/**
	 * Returns whether a bean that is still to be created has locked methods, such as a
	 * lazy one: its store is checked at the start, too.
	 */
	private boolean hasLockedBean() {
		LockAttributeSource source = this.beanFactory.getBean(LockAttributeSource.class);
		for (String beanName : this.beanFactory.getBeanDefinitionNames()) {
			Class<?> type = this.beanFactory.containsSingleton(beanName) ? null
					: BeanTypes.typeOf(beanName, this.beanFactory);
			if (type != null && source.isCandidateClass(type)) {
				return true;
			}
		}
		return false;
	}

	private void report(List<Engine> added) {
		LockSettings settings = this.engines.settings();
		boolean first = this.reported.isEmpty();
		List<LockStoreLocation> locations = locations();
		added.stream()
			.filter(this.reported::add)
			.forEach((engine) -> logger.info(describe(engine, LockStoreLocation.find(engine.provider(), locations))
					+ ", lease " + text(settings.lease()) + ", wait-time " + text(settings.waitTime())));
		if (first) {
			SettingsWarnings.log(settings);
		}
	}

	private static String describe(Engine engine, @Nullable LockStoreLocation location) {
		return "Distributed locks: store '" + engine.provider().name() + "' (" + engine.reason() + ')'
				+ ((location != null) ? ", " + location.location() + ", key prefix '" + location.keyPrefix() + '\''
						: "");
	}

	private static String text(Duration duration) {
		return (duration.toMillis() % 1000 == 0) ? duration.toSeconds() + "s" : DurationStyle.SIMPLE.print(duration);
	}

	private List<LockStoreLocation> locations() {
		return this.beanFactory.getBeanProvider(LockStoreLocation.class).orderedStream().toList();
	}

	/**
	 * Requires that there is a store to choose, as far as no provider has to be created.
	 */
	private void requireProvider() {
		boolean mocked = LockBeans.isMocked(this.beanFactory) || this.beanFactory.containsSingleton(LockBeans.TEMPLATE);
		if (!mocked && this.beanFactory.containsBeanDefinition(SelectedLockProvider.BEAN_NAME)) {
			SelectedLockProvider.requireCandidate(
					List.of(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beanFactory, LockProvider.class)),
					NamedProvider.of(this.beanFactory.getBean(ConfigurableApplicationContext.ENVIRONMENT_BEAN_NAME,
							Environment.class)));
		}
	}

}
