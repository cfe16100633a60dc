package io.distributedlock.autoconfigure;

import java.util.Arrays;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

import io.distributedlock.LockOperations;
import io.distributedlock.provider.LockProvider;

/**
 * Locks that the application defines itself. A primary {@link LockOperations} counts as a
 * decorator, which needs the ones that it decorates.
 */
final class OwnLockBeans {

	private static final String PREFIX = "distributedLock";

	private OwnLockBeans() {
	}

	/** Returns whether the application needs no store that it does not name. */
	static boolean replaceStores(@Nullable ConfigurableListableBeanFactory beanFactory) {
		return beanFactory != null && (replaceEngine(beanFactory)
				|| Arrays.stream(names(beanFactory, LockProvider.class)).anyMatch((name) -> !name.startsWith(PREFIX)));
	}

	/** Returns whether the application, or a context above it, has the locks already. */
	static boolean replaceEngine(ConfigurableListableBeanFactory beanFactory) {
		String[] names = names(beanFactory, LockOperations.class);
		return names.length > 0 && Arrays.stream(names).noneMatch((name) -> isPrimary(name, beanFactory));
	}

	/** Returns whether the application decorates the locks. */
	static boolean decorateEngine(ConfigurableListableBeanFactory beanFactory) {
		return names(beanFactory, LockOperations.class).length > 0;
	}

	static boolean hasProvider(ConfigurableListableBeanFactory beanFactory) {
		return names(beanFactory, LockProvider.class).length > 0;
	}

	private static boolean isPrimary(String name, ConfigurableListableBeanFactory beanFactory) {
		return beanFactory.containsBeanDefinition(name) && beanFactory.getBeanDefinition(name).isPrimary();
	}

	private static String[] names(ListableBeanFactory beanFactory, Class<?> type) {
		return BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beanFactory, type, true, false);
	}

}
