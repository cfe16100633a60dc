package io.distributedlock.autoconfigure;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;

import io.distributedlock.provider.LockProvider;

/** The beans of the type {@link LockProvider}, and the names that belong to them. */
public final class LockProviderBeans {

	static final String TEMPLATE = "distributedLockTemplate";

	private static final String PREFIX = "distributedLock";

	private static final String SUFFIX = "Provider";

	/** The only names of our own: an application may call its beans as it likes. */
	private static final Set<String> OWN = Stream.of("Redis", "RedisQuorum", "Jdbc", "ZooKeeper", "Local", "None")
		.map((store) -> PREFIX + store + SUFFIX)
		.collect(Collectors.toUnmodifiableSet());

	private LockProviderBeans() {
	}

	/**
	 * Returns all providers by the names of their beans, also those that no type finds.
	 */
	static Map<String, LockProvider> all(ListableBeanFactory beanFactory) {
		Map<String, LockProvider> providers = new LinkedHashMap<>();
		for (String name : BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beanFactory, LockProvider.class)) {
			providers.put(name, beanFactory.getBean(name, LockProvider.class));
		}
		return providers;
	}

	/**
	 * Returns the qualifier of the locks of a provider: {@code redis} for the bean
	 * {@code distributedLockRedisProvider}, otherwise the name of the bean.
	 */
	static String qualifier(String beanName) {
		return isOwn(beanName) ? middle(beanName).toLowerCase(Locale.ROOT) : beanName;
	}

	/** Returns the name of a provider of ours, without creating it. */
	public static String ownName(String beanName) {
		String qualifier = qualifier(beanName);
		return qualifier.equals("redisquorum") ? "redis" : qualifier;
	}

	/** Returns the name of the bean of the locks of a provider, another one for each. */
	static String template(String beanName) {
		return isOwn(beanName) ? PREFIX + middle(beanName) + "Template" : TEMPLATE + "." + beanName;
	}

	/** Whether a bean is among the locks that the auto-configuration defines. */
	static boolean isTemplate(String beanName) {
		return beanName.startsWith(PREFIX);
	}

	/** Whether a provider is one that the auto-configuration defines. */
	static boolean isOwn(String beanName) {
		return OWN.contains(beanName);
	}

	private static String middle(String beanName) {
		return beanName.substring(PREFIX.length(), beanName.length() - SUFFIX.length());
	}

}
