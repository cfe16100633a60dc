package io.distributedlock.autoconfigure;

import java.util.Arrays;
import java.util.List;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.Environment;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.jdbc.JdbcLockProvider;
import io.distributedlock.jdbc.rowlock.JdbcRowLockProvider;

/**
 * Check that the provider keeps locks as the property says, before any bean is created. A
 * provider of the application may differ from it, and so may one that was chosen when the
 * application was processed ahead of time.
 */
final class JdbcStrategyCheck {

	private static final String PROVIDER = "distributedLockJdbcProvider";

	private JdbcStrategyCheck() {
	}

	static void check(ConfigurableListableBeanFactory beanFactory, Environment environment) {
		JdbcStrategy strategy = JdbcStrategyCondition.strategy(environment);
		if (strategy == null && !keepsRowLocks(beanFactory)) {
			return;
		}
		List<String> leases = names(beanFactory, JdbcLockProvider.class);
		List<String> rows = names(beanFactory, JdbcRowLockProvider.class);
		if (strategy == JdbcStrategy.ROW_LOCK) {
			require(rows, leases, "row-lock", "keeps leases");
		}
		else {
			require(leases, rows, "lease", "keeps row locks");
		}
	}

	private static boolean keepsRowLocks(ConfigurableListableBeanFactory beanFactory) {
		return beanFactory.containsBeanDefinition(PROVIDER)
				&& beanFactory.isTypeMatch(PROVIDER, JdbcRowLockProvider.class);
	}

	private static List<String> names(ConfigurableListableBeanFactory beanFactory, Class<?> type) {
		return Arrays.asList(beanFactory.getBeanNamesForType(type, true, false));
	}

	private static void require(List<String> suitable, List<String> others, String strategy, String fact) {
		if (suitable.isEmpty() && !others.isEmpty()) {
			throw new LockConfigurationException(LockError.INVALID_PROPERTY,
					"The property " + JdbcStrategyCondition.PROPERTY + " is " + strategy + ", but the bean '"
							+ others.get(0) + "' " + fact,
					"Set the property to what the bean does. Where the application is processed ahead of time, set "
							+ "it for the build too");
		}
	}

}
