package io.distributedlock.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import org.springframework.aot.AotDetector;
import org.springframework.beans.factory.ObjectProvider;
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

	/**
	 * Chooses among the candidates.
	 * @param candidates the candidates, of which one may be primary
	 * @param providers all providers of the application, by the names of their beans
	 * @param named the names that the properties have
	 * @return the choice
	 * @throws LockConfigurationException if there is none, or it is not clear which
	 */
	static SelectedLockProvider select(ObjectProvider<LockProvider> candidates, Map<String, LockProvider> providers,
			NamedProviders named) {
		List<String> additional = named.additional()
			.stream()
			.map((name) -> named(providers, NamedProviders.ADDITIONAL, name))
			.toList();
		if (named.primary() != null) {
			String beanName = named(providers, NamedProviders.PRIMARY, named.primary());
			return new SelectedLockProvider(beanName, provider(providers, beanName),
					"chosen by " + NamedProviders.PRIMARY);
		}
		List<LockProvider> all = new ArrayList<>(candidates.orderedStream().toList());
		all.removeIf((candidate) -> additional.stream().anyMatch((name) -> providers.get(name) == candidate));
		if (all.isEmpty()) {
			throw additional.isEmpty() ? none() : onlyAdditional(named);
		}
		LockProvider unique = (all.size() == 1) ? all.get(0) : candidates.getIfUnique();
		if (unique == null) {
			throw several(all.stream().map(LockProvider::name).toList());
		}
		return new SelectedLockProvider(beanName(providers, unique), unique,
				(all.size() == 1) ? "the only candidate" : "the primary candidate");
	}

	/**
	 * Requires that there is a provider to choose, by the names of the beans alone. Only
	 * providers of ours have names that their beans tell.
	 * @param beanNames the names of the beans of all providers
	 * @param named the names that the properties have
	 * @throws LockConfigurationException if there is none
	 */
	static void requireCandidates(List<String> beanNames, NamedProviders named) {
		List<String> present = new ArrayList<>();
		for (String beanName : beanNames) {
			if (!LockProviderBeans.isOwn(beanName)) {
				return;
			}
			present.add(LockProviderBeans.ownName(beanName));
		}
		for (String name : named.additional()) {
			requireOwn(beanNames, present, NamedProviders.ADDITIONAL, name);
		}
		if (named.primary() != null) {
			requireOwn(beanNames, present, NamedProviders.PRIMARY, named.primary());
			return;
		}
		if (present.isEmpty()) {
			throw none();
		}
		present.removeIf(named::hasAdditional);
		if (present.isEmpty()) {
			throw onlyAdditional(named);
		}
	}

	private static void requireOwn(List<String> beanNames, List<String> present, String property, String name) {
		for (String other : present) {
			if (other.equalsIgnoreCase(name)) {
				return;
			}
		}
		if (!beanNames.contains(name)) {
			throw unknown(property, name, present);
		}
	}

	static LockConfigurationException several(List<String> names) {
		return new LockConfigurationException(LockError.SEVERAL_PROVIDERS,
				"There are several stores to keep distributed locks in: "
						+ names.stream().sorted().collect(Collectors.joining(", ")),
				"Choose one with distributed-lock.provider, or mark one LockProvider as @Primary");
	}

	private static LockConfigurationException onlyAdditional(NamedProviders named) {
		return new LockConfigurationException(LockError.NO_PROVIDER,
				"All stores of the application are additional ones (" + NamedProviders.ADDITIONAL + "="
						+ String.join(",", named.additional()) + "), and none is the primary one",
				"Name the store of methods without a provider with " + NamedProviders.PRIMARY);
	}

	private static LockConfigurationException none() {
		return new LockConfigurationException(LockError.NO_PROVIDER,
				"There is no store to keep distributed locks in: the application has no LockProvider",
				"Add a RedisConnectionFactory, for instance by spring-boot-starter-data-redis, or a DataSource by"
						+ " spring-boot-starter-jdbc and a driver, or curator-framework and"
						+ " distributed-lock.zookeeper.connect-string, or define a LockProvider."
						+ " For a single process choose distributed-lock.provider=local;"
						+ " to run without locks choose distributed-lock.provider=none" + ofBoot());
	}

	private static String named(Map<String, LockProvider> providers, String property, String name) {
		List<String> matching = matching(providers, name);
		if (matching.isEmpty()) {
			throw unknown(property, name, providers.values().stream().map(LockProvider::name).toList());
		}
		if (matching.size() > 1) {
			throw new LockConfigurationException(LockError.SEVERAL_PROVIDERS,
					"The property " + property + " is '" + name + "', but " + matching.size()
							+ " LockProviders have that name",
					"Give each LockProvider a name of its own, or use the name of its bean: "
							+ String.join(", ", matching));
		}
		return matching.get(0);
	}

	private static LockConfigurationException unknown(String property, String name, List<String> present) {
		return new LockConfigurationException(LockError.NO_PROVIDER, "The property " + property + " is '" + name
				+ "', but "
				+ (present.isEmpty() ? "there is no such LockProvider, nor any other"
						: "the application has only: " + present.stream().sorted().collect(Collectors.joining(", "))),
				"Correct the name, or add what that provider needs: 'redis' needs a RedisConnectionFactory, 'jdbc'"
						+ " a DataSource, 'zookeeper' a CuratorFramework or distributed-lock.zookeeper.connect-string;"
						+ " 'local' and 'none' need nothing" + ofBuild() + ofBoot());
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

	/**
	 * Returns the names of the beans that a name means: that of a bean, or else of
	 * providers.
	 */
	static List<String> matching(Map<String, LockProvider> providers, String name) {
		if (providers.containsKey(name)) {
			return List.of(name);
		}
		return providers.entrySet()
			.stream()
			.filter((entry) -> entry.getValue().name().equalsIgnoreCase(name))
			.map(Map.Entry::getKey)
			.toList();
	}

	private static String beanName(Map<String, LockProvider> providers, LockProvider provider) {
		return providers.entrySet()
			.stream()
			.filter((entry) -> entry.getValue() == provider)
			.map(Map.Entry::getKey)
			.findFirst()
			.orElseThrow();
	}

	private static LockProvider provider(Map<String, LockProvider> providers, String beanName) {
		LockProvider provider = providers.get(beanName);
		if (provider == null) {
			throw new IllegalStateException("No LockProvider '" + beanName + "'");
		}
		return provider;
	}

}
