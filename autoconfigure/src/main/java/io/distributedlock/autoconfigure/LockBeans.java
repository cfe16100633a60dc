package io.distributedlock.autoconfigure;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;

import io.distributedlock.LockOperations;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.provider.LockProvider;

/**
 * The beans of the types {@link LockProvider} and {@link LockOperations}, and the names
 * that belong to them. An additional provider is a bean that is no default candidate. A
 * primary {@link LockOperations} counts as a decorator, which needs the ones that it
 * decorates.
 */
public final class LockBeans {

	static final String TEMPLATE = "distributedLockTemplate";

	/**
	 * The only names of our own, with those of the providers: an application may call its
	 * beans as it likes.
	 */
	static final Map<String, String> OWN = Map.of("distributedLockRedisProvider", "redis",
			"distributedLockRedisQuorumProvider", "redis", "distributedLockJdbcProvider", "jdbc",
			"distributedLockZooKeeperProvider", "zookeeper", "distributedLockLocalProvider", "local",
			"distributedLockNoneProvider", "none");

	private LockBeans() {
	}

	/**
	 * Returns the names of all providers, which are created, by the names of their beans.
	 */
	static Map<String, String> providers(ListableBeanFactory beanFactory) {
		Map<String, String> providers = new LinkedHashMap<>();
		for (String name : BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beanFactory, LockProvider.class)) {
			providers.put(name, beanFactory.getBean(name, LockProvider.class).name());
		}
		return providers;
	}

	/**
	 * Returns the names of the beans that a name means: that of a bean, or else of
	 * providers.
	 */
	static List<String> matching(Map<String, String> providers, String name) {
		return providers.containsKey(name) ? List.of(name)
				: providers.keySet().stream().filter((bean) -> name.equalsIgnoreCase(providers.get(bean))).toList();
	}

	/**
	 * Returns whether a bean is injected where no qualifier asks for it.
	 * @param name the name of a bean of the factory or of its ancestors
	 */
	static boolean isDefaultCandidate(String name, ConfigurableListableBeanFactory beanFactory) {
		if (beanFactory.containsBeanDefinition(name)) {
			return beanFactory.getMergedBeanDefinition(name) instanceof AbstractBeanDefinition bean
					&& bean.isAutowireCandidate() && bean.isDefaultCandidate();
		}
		return beanFactory.containsSingleton(name)
				|| !(beanFactory.getParentBeanFactory() instanceof ConfigurableListableBeanFactory parent)
				|| isDefaultCandidate(name, parent);
	}

	/** Returns whether the application has a mock in place of the primary locks. */
	static boolean isMocked(ConfigurableListableBeanFactory beanFactory) {
		return !beanFactory.isTypeMatch(TEMPLATE, LockTemplate.class);
	}

	/** Returns whether the application needs no store that it does not name. */
	static boolean replaceStores(ConfigurableListableBeanFactory beanFactory) {
		return replaceEngine(BeanTypes.names(beanFactory, LockOperations.class), beanFactory)
				|| BeanTypes.names(beanFactory, LockProvider.class)
					.stream()
					.anyMatch((name) -> !isOwn(name) && isDefaultCandidate(name, beanFactory));
	}

	/** Returns whether the locks of the application are no decorators of others. */
	static boolean replaceEngine(List<String> operations, ConfigurableListableBeanFactory beanFactory) {
		return !operations.isEmpty() && operations.stream()
			.noneMatch((name) -> beanFactory.containsBeanDefinition(name)
					&& beanFactory.getBeanDefinition(name).isPrimary());
	}

	/**
	 * Returns the qualifier of the locks of a provider: the name of a provider of ours,
	 * otherwise the name of the bean.
	 */
	public static String qualifier(String beanName) {
		return OWN.getOrDefault(beanName, beanName);
	}

	/** Returns the name of the bean of the locks of an additional provider. */
	static String template(String beanName) {
		return TEMPLATE + "." + beanName;
	}

	/** Returns whether a provider is one that the auto-configuration defines. */
	static boolean isOwn(String beanName) {
		return OWN.containsKey(beanName);
	}

}
