package io.distributedlock.autoconfigure;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockOperations;
import io.distributedlock.autoconfigure.LockEngines.NamedEngine;
import io.distributedlock.interceptor.LockOperationsLookup;

/**
 * Lookup of the locks of a provider among the beans of a context and its ancestors: the
 * primary {@link LockOperations}, those of a {@code LockProvider}, or a bean of the
 * application's own. Safe for use by many threads.
 */
final class ProviderLocks implements LockOperationsLookup {

	private final BeanFactory beanFactory;

	/** Found without a lock: the bean factory, which creates it, has locks of its own. */
	private volatile @Nullable LockOperations primary;

	private final Map<String, LockOperations> named = new ConcurrentHashMap<>();

	ProviderLocks(BeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	@Override
	public LockOperations find(@Nullable String provider) {
		if (provider == null) {
			LockOperations found = this.primary;
			if (found == null) {
				found = findPrimary();
				this.primary = found;
			}
			return found;
		}
		LockOperations known = this.named.get(provider);
		if (known == null) {
			known = findNamed(provider);
			this.named.put(provider, known);
		}
		return known;
	}

	private LockOperations findPrimary() {
		try {
			return this.beanFactory.getBean(LockOperations.class);
		}
		catch (NoUniqueBeanDefinitionException ex) {
			throw new LockConfigurationException(LockError.SEVERAL_OPERATIONS,
					"there are several beans of the type LockOperations: " + ex.getBeanNamesFound(),
					"Make one @Primary, or name one with @DistributedLock(provider = \"…\")", ex);
		}
		catch (NoSuchBeanDefinitionException ex) {
			throw new LockConfigurationException(LockError.NO_PROVIDER,
					"no bean of the type LockOperations can be injected",
					"Remove defaultCandidate = false from the application's own, or name it with"
							+ " @DistributedLock(provider = \"…\")",
					ex);
		}
	}

	private LockOperations findNamed(String name) {
		if (this.beanFactory.containsBean(name) && this.beanFactory.isTypeMatch(name, LockOperations.class)) {
			return this.beanFactory.getBean(name, LockOperations.class);
		}
		LockEngines engines = this.beanFactory.getBeanProvider(LockEngines.class).getIfAvailable();
		if (engines == null) {
			throw new LockConfigurationException(LockError.UNKNOWN_PROVIDER,
					"its provider is '" + name
							+ "', but the application has LockOperations of its own, and none of that name",
					"Correct the name: that of a bean of the type LockOperations");
		}
		NamedEngine engine = engines.find(name);
		if (engine.bean() == null) {
			return find(null);
		}
		// A provider of an ancestor has no bean of locks in this context.
		return this.beanFactory.containsBean(engine.bean())
				? this.beanFactory.getBean(engine.bean(), LockOperations.class) : engines.of(engine.providerBean());
	}

}
