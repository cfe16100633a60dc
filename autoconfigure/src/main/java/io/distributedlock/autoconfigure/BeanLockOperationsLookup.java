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
import io.distributedlock.interceptor.LockOperationsLookup;

/**
 * Lookup of the locks of a provider among the beans of a context and its ancestors: the
 * primary {@link LockOperations}, those of a {@code LockProvider}, or a bean of the
 * application's own. Safe for use by many threads.
 */
final class BeanLockOperationsLookup implements LockOperationsLookup {

	/** Stands for the primary provider; no provider has this name. */
	private static final String PRIMARY = "";

	private final BeanFactory beanFactory;

	/**
	 * Filled without a lock: the bean factory, which creates them, has locks of its own.
	 */
	private final Map<String, LockOperations> known = new ConcurrentHashMap<>();

	BeanLockOperationsLookup(BeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	@Override
	public LockOperations find(@Nullable String provider) {
		String name = (provider != null) ? provider : PRIMARY;
		LockOperations found = this.known.get(name);
		if (found == null) {
			found = (provider != null) ? findNamed(provider) : findPrimary();
			this.known.put(name, found);
		}
		return found;
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
		String provider = engines.find(name);
		if (engines.isPrimary(provider)) {
			return find(null);
		}
		// A provider of an ancestor has no bean of locks in this context.
		String bean = LockBeans.template(provider);
		return this.beanFactory.containsBean(bean) ? this.beanFactory.getBean(bean, LockOperations.class)
				: engines.of(provider);
	}

}
