package io.distributedlock.autoconfigure;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.CannotLoadBeanClassException;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.Environment;

import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.interceptor.LockAttributeSource;
import io.distributedlock.provider.LockProvider;

/**
 * The start of locking, once all singletons are ready and all locked methods are known.
 * An application that needs locks gets its start line and a check of each store. One that
 * needs none creates no engine and no client of a store; only what the definitions of the
 * beans tell is checked.
 */
final class LockStart implements SmartInitializingSingleton, LockEngineListener {

	private static final Log logger = LogFactory.getLog(LockStart.class);

	private final ConfigurableListableBeanFactory beanFactory;

	private final Environment environment;

	private final Set<ProviderEngine> reported = ConcurrentHashMap.newKeySet();

	private final AtomicBoolean checked = new AtomicBoolean();

	private volatile boolean started;

	LockStart(ConfigurableListableBeanFactory beanFactory, Environment environment) {
		this.beanFactory = beanFactory;
		this.environment = environment;
	}

	@Override
	public void afterSingletonsInstantiated() {
		if (isUnused() && !hasLockedBean()) {
			this.started = true;
			// Another thread may have needed an engine before it could see the mark.
			if (isUnused()) {
				requireProvider();
				return;
			}
		}
		start();
	}

	/**
	 * Creates all engines, reports them and checks their stores, once. A check that
	 * failed is repeated: it may have ended the start of a child context only.
	 */
	void start() {
		if (this.checked.compareAndSet(false, true)) {
			try {
				check();
			}
			catch (RuntimeException ex) {
				this.checked.set(false);
				throw ex;
			}
		}
	}

	private void check() {
		LockEngines engines = this.beanFactory.getBean(LockEngines.BEAN_NAME, LockEngines.class);
		engines.createAll();
		this.started = true;
		List<ProviderEngine> all = engines.all();
		report(all);
		DistributedLockProperties properties = this.beanFactory.getBean(DistributedLockProperties.class);
		new StoreConnectionCheck(locations(), properties.callTimeout(), properties.failFast()).check(all);
	}

	/**
	 * Reports an engine that is first needed when the application has started. A location
	 * that cannot be told keeps nobody from locking.
	 */
	@Override
	public void available(ProviderEngine engine) {
		if (this.started) {
			try {
				report(List.of(engine));
			}
			catch (RuntimeException ex) {
				logger.warn("The store '" + engine.provider().name() + "' keeps locks, but cannot be described", ex);
			}
		}
	}

	private boolean isUnused() {
		return LockEngines.created(this.beanFactory).isEmpty();
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

	private void report(List<ProviderEngine> engines) {
		boolean first = this.reported.isEmpty();
		List<ProviderEngine> others = engines.stream().filter(this.reported::add).toList();
		LockSettings settings = this.beanFactory.getBean(LockEngines.BEAN_NAME, LockEngines.class).settings();
		new LockStartReport(locations(), settings).report(others);
		if (first) {
			SettingsWarnings.log(settings);
		}
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
					NamedProvider.of(this.environment));
		}
	}

}
