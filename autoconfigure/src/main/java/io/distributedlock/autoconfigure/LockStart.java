package io.distributedlock.autoconfigure;

import java.util.List;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.Environment;

import io.distributedlock.interceptor.LockedMethodRegistry;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.support.LockSettings;

/**
 * The start of locking, once all singletons are ready and all locked methods are known.
 * An application that needs locks gets its start line and a check of each store. One that
 * needs none creates no engine and no client of a store; only what the definitions of the
 * beans tell is checked.
 */
final class LockStart implements SmartInitializingSingleton, LockEngineListener {

	private final ConfigurableListableBeanFactory beanFactory;

	private final Environment environment;

	private volatile boolean started;

	LockStart(ConfigurableListableBeanFactory beanFactory, Environment environment) {
		this.beanFactory = beanFactory;
		this.environment = environment;
	}

	@Override
	public void afterSingletonsInstantiated() {
		checkMethods();
		if (isUnused()) {
			this.started = true;
			// Another thread may have needed an engine before it could see the mark.
			if (isUnused()) {
				requireProvider();
				return;
			}
		}
		LockEngines engines = this.beanFactory.getBean(LockEngines.BEAN_NAME, LockEngines.class);
		engines.createAll();
		this.started = true;
		List<ProviderEngine> all = engines.all();
		report(all);
		DistributedLockProperties properties = this.beanFactory.getBean(DistributedLockProperties.class);
		new LockStoreCheck(locations(), properties.callTimeout(), properties.failFast()).check(all);
	}

	/** Reports an engine that is first needed when the application has started. */
	@Override
	public void created(ProviderEngine engine) {
		if (this.started) {
			report(List.of(engine));
		}
	}

	private boolean isUnused() {
		return LockEngines.created(this.beanFactory).isEmpty();
	}

	private void checkMethods() {
		LockedMethodRegistry methods = this.beanFactory.getBean(LockedMethodRegistry.class);
		if (!methods.isEmpty()) {
			new StoreLimitsCheck(methods, this.beanFactory.getBean(LockEngines.class),
					this.beanFactory.getBean(LockSettings.class))
				.check();
		}
	}

	private void report(List<ProviderEngine> engines) {
		new LockStartReport(locations(), this.beanFactory.getBean(LockSettings.class)).report(engines);
	}

	private List<LockStoreLocation> locations() {
		return this.beanFactory.getBeanProvider(LockStoreLocation.class).orderedStream().toList();
	}

	/**
	 * Requires that there is a store to choose, as far as no provider has to be created.
	 */
	private void requireProvider() {
		if (!LockEngines.isMocked(this.beanFactory)) {
			SelectedLockProvider.requireCandidates(
					List.of(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beanFactory, LockProvider.class)),
					NamedProviders.of(this.environment));
		}
	}

}
