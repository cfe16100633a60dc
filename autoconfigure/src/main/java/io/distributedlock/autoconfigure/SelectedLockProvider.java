package io.distributedlock.autoconfigure;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

import org.springframework.aot.AotDetector;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.SpringBootVersion;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.provider.LockProvider;

/**
 * The provider that keeps the locks of methods that name none. A type of its own, so that
 * the choice is made once and is no candidate itself. An application that chooses by a
 * rule of its own defines a bean of this type.
 *
 * @param beanName the name of its bean
 * @param provider the chosen provider
 * @param reason why it was chosen, for people to read
 * @since 0.1.0
 */
public record SelectedLockProvider(String beanName, LockProvider provider, String reason) {

	static final String BEAN_NAME = "distributedLockSelectedProvider";

	/**
	 * Chooses among the candidates.
	 * @param candidates the candidates, of which one may be primary
	 * @param beanFactory the factory that has all providers, also additional ones
	 * @param named the name that the property has
	 * @return the choice
	 * @throws LockConfigurationException if there is none, or it is not clear which
	 */
	static SelectedLockProvider select(ObjectProvider<LockProvider> candidates,
			ConfigurableListableBeanFactory beanFactory, NamedProvider named) {
		Map<String, String> providers = LockBeans.providers(beanFactory);
		if (named.name() != null) {
			String beanName = named(providers, named.name());
			return new SelectedLockProvider(beanName, beanFactory.getBean(beanName, LockProvider.class),
					"chosen by " + NamedProvider.PROPERTY);
		}
		List<LockProvider> all = candidates.orderedStream().toList();
		LockProvider unique = (all.size() == 1) ? all.get(0) : candidates.getIfUnique();
		if (unique == null) {
			throw all.isEmpty() ? none(providers.keySet()) : several(all.stream().map(LockProvider::name).toList());
		}
		String beanName = providers.keySet()
			.stream()
			.filter((name) -> beanFactory.getBean(name) == unique)
			.findFirst()
			.orElseThrow();
		return new SelectedLockProvider(beanName, unique,
				(all.size() == 1) ? "the only candidate" : "the primary candidate");
	}

	/**
	 * Requires that it is clear which store keeps the locks, before any bean is created:
	 * a start that fails for that reason has opened no connection and created no table.
	 * Leaves a choice in which beans of the application take part to the bean of this
	 * type; a mock in place of the locks needs no store.
	 * @param beanFactory the factory of which definitions are read
	 * @param named the name that the property has
	 * @throws LockConfigurationException if there are several stores
	 */
	static void requireOneStore(ConfigurableListableBeanFactory beanFactory, NamedProvider named) {
		if (named.name() == null && beanFactory.containsBeanDefinition(BEAN_NAME) && !LockBeans.isMocked(beanFactory)) {
			List<String> candidates = BeanTypes.names(beanFactory, LockProvider.class)
				.stream()
				.filter((name) -> LockBeans.isDefaultCandidate(name, beanFactory))
				.toList();
			if (candidates.size() > 1 && candidates.stream().allMatch(LockBeans::isOwn)) {
				throw several(candidates.stream().map(LockBeans::qualifier).toList());
			}
		}
	}

	/**
	 * Requires that there is a provider to choose, by the names of the beans alone. Only
	 * providers of ours have names that their beans tell.
	 * @param beanNames the names of the beans of all providers
	 * @param named the name that the property has
	 * @throws LockConfigurationException if there is none
	 */
	static void requireCandidate(List<String> beanNames, NamedProvider named) {
		if (beanNames.stream().allMatch(LockBeans::isOwn)) {
			if (named.name() != null) {
				named(beanNames.stream().collect(Collectors.toMap(Function.identity(), LockBeans::qualifier)),
						named.name());
			}
			else if (beanNames.isEmpty()) {
				throw none(beanNames);
			}
		}
	}

	private static LockConfigurationException several(List<String> names) {
		return new LockConfigurationException(LockError.SEVERAL_PROVIDERS,
				"There are several stores to keep distributed locks in: " + list(names),
				"Choose one with distributed-lock.provider, or mark one LockProvider as @Primary");
	}

	private static LockConfigurationException none(Collection<String> additional) {
		if (!additional.isEmpty()) {
			return new LockConfigurationException(LockError.NO_PROVIDER,
					"All stores of the application are additional ones (LockProvider beans with"
							+ " defaultCandidate=false: " + list(additional) + "), and none is the primary one",
					"Name the store of methods without a provider with " + NamedProvider.PROPERTY);
		}
		return new LockConfigurationException(LockError.NO_PROVIDER,
				"There is no store to keep distributed locks in: the application has no LockProvider",
				"Add a RedisConnectionFactory, for instance by spring-boot-starter-data-redis, or a DataSource by"
						+ " spring-boot-starter-jdbc and a driver, or curator-framework and"
						+ " distributed-lock.zookeeper.connect-string, or define a LockProvider."
						+ " For a single process choose distributed-lock.provider=local;"
						+ " to run without locks choose distributed-lock.provider=none" + ofBoot());
	}

	private static String named(Map<String, String> providers, String name) {
		List<String> matching = LockBeans.matching(providers, name);
		if (matching.isEmpty()) {
			throw new LockConfigurationException(LockError.NO_PROVIDER,
					"The property " + NamedProvider.PROPERTY + " is '" + name + "', but "
							+ (providers.isEmpty() ? "there is no such LockProvider, nor any other"
									: "the application has only: " + list(providers.values())),
					"Correct the name, or add what that provider needs: 'redis' needs a RedisConnectionFactory, 'jdbc'"
							+ " a DataSource, 'zookeeper' a CuratorFramework or"
							+ " distributed-lock.zookeeper.connect-string; 'local' and 'none' need nothing" + ofBuild()
							+ ofBoot());
		}
		if (matching.size() > 1) {
			throw new LockConfigurationException(LockError.SEVERAL_PROVIDERS,
					"The property " + NamedProvider.PROPERTY + " is '" + name + "', but " + matching.size()
							+ " LockProviders have that name",
					"Give each LockProvider a name of its own, or use the name of its bean: "
							+ String.join(", ", matching));
		}
		return matching.get(0);
	}

	private static String list(Collection<String> names) {
		return names.stream().sorted().collect(Collectors.joining(", "));
	}

	/** Returns why no store is found by a Spring Boot whose classes have other names. */
	private static String ofBoot() {
		String version = SpringBootVersion.getVersion();
		return version.matches("[123]\\..*")
				? ". This is Spring Boot " + version + ", but the stores need Spring Boot 4" : "";
	}

	/** Returns what a name misses if the application was processed ahead of time. */
	private static String ofBuild() {
		return AotDetector.useGeneratedArtifacts()
				? ". This application was processed ahead of time: set the property for the processing too, because it"
						+ " decides which providers there are"
				: "";
	}

}
