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

	private OwnLockBeans() {
	}

	/** Returns whether the application needs no store that it does not name. */
	static boolean replaceStores(@Nullable ConfigurableListableBeanFactory beanFactory) {
		return beanFactory != null && (replaceEngine(operations(beanFactory), beanFactory)
				|| Arrays.stream(names(beanFactory, LockProvider.class))
					.anyMatch((name) -> !LockProviderBeans.isOwn(name)));
	}

	/**
	 * Returns the names of the locks that the application, or a context above it, has.
	 */
	static String[] operations(ConfigurableListableBeanFactory beanFactory) {
		return names(beanFactory, LockOperations.class);
	}

	/** Returns whether the locks of the application are no decorators of others. */
	static boolean replaceEngine(String[] operations, ConfigurableListableBeanFactory beanFactory) {
		return operations.length > 0 && Arrays.stream(operations).noneMatch((name) -> isPrimary(name, beanFactory));
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
