package io.distributedlock.autoconfigure;

import java.util.List;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.provider.LockProvider;

/**
 * The provider that keeps the locks. A type of its own, so that the choice is made once
 * and is no candidate itself.
 *
 * @param provider the chosen provider
 * @param reason why it was chosen, for people to read
 */
record SelectedLockProvider(LockProvider provider, String reason) {

	/**
	 * Chooses among the candidates.
	 * @param candidates all providers of the application
	 * @param name the configured name, or {@code null} for the only or primary candidate
	 * @return the choice
	 * @throws LockConfigurationException if there is none, or it is not clear which
	 */
	static SelectedLockProvider select(ObjectProvider<LockProvider> candidates, @Nullable String name) {
		List<LockProvider> all = candidates.orderedStream().toList();
		if (name != null && !name.isBlank()) {
			return new SelectedLockProvider(named(all, name.trim()), "chosen by distributed-lock.provider");
		}
		if (all.isEmpty()) {
			throw new LockConfigurationException(LockError.NO_PROVIDER,
					"There is no store to keep distributed locks in: the application has no LockProvider",
					"Add a RedisConnectionFactory, for instance by spring-boot-starter-data-redis, or a DataSource by"
							+ " spring-boot-starter-jdbc and a driver, or curator-framework and"
							+ " distributed-lock.zookeeper.connect-string, or define a LockProvider."
							+ " For a single process choose distributed-lock.provider=local;"
							+ " to run without locks choose distributed-lock.provider=none");
		}
		LockProvider unique = (all.size() == 1) ? all.get(0) : candidates.getIfUnique();
		if (unique == null) {
			throw new LockConfigurationException(LockError.SEVERAL_PROVIDERS,
					"There are several stores to keep distributed locks in: " + names(all),
					"Choose one with distributed-lock.provider, or mark one LockProvider as @Primary");
		}
		return new SelectedLockProvider(unique, (all.size() == 1) ? "the only candidate" : "the primary candidate");
	}

	private static LockProvider named(List<LockProvider> all, String name) {
		List<LockProvider> matching = all.stream()
			.filter((candidate) -> candidate.name().equalsIgnoreCase(name))
			.toList();
		if (matching.isEmpty()) {
			throw new LockConfigurationException(LockError.NO_PROVIDER,
					"The property distributed-lock.provider is '" + name + "', but "
							+ (all.isEmpty() ? "there is no such LockProvider, nor any other"
									: "the application has only: " + names(all)),
					"Correct the name, or add what that provider needs: 'redis' needs a RedisConnectionFactory, 'jdbc'"
							+ " a DataSource, 'zookeeper' a CuratorFramework or distributed-lock.zookeeper.connect-string;"
							+ " 'local' and 'none' need nothing");
		}
		if (matching.size() > 1) {
			throw new LockConfigurationException(
					LockError.SEVERAL_PROVIDERS, "The property distributed-lock.provider is '" + name + "', but "
							+ matching.size() + " LockProviders have that name",
					"Give each LockProvider a name of its own");
		}
		return matching.get(0);
	}

	private static String names(List<LockProvider> providers) {
		return providers.stream().map(LockProvider::name).sorted().collect(Collectors.joining(", "));
	}

}
