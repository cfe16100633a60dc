package io.distributedlock.autoconfigure;

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
		JdbcStrategy strategy = OnRowLockCondition.strategy(environment);
		if (strategy == JdbcStrategy.ROW_LOCK) {
			require(JdbcRowLockProvider.class, JdbcLockProvider.class, "row-lock", "keeps leases", beanFactory);
		}
		else if (strategy != null || keepsRowLocks(beanFactory)) {
			require(JdbcLockProvider.class, JdbcRowLockProvider.class, "lease", "keeps row locks", beanFactory);
		}
	}

	private static boolean keepsRowLocks(ConfigurableListableBeanFactory beanFactory) {
		return beanFactory.containsBeanDefinition(PROVIDER)
				&& beanFactory.isTypeMatch(PROVIDER, JdbcRowLockProvider.class);
	}

	private static void require(Class<?> suitable, Class<?> other, String strategy, String fact,
			ConfigurableListableBeanFactory beanFactory) {
		String[] others = beanFactory.getBeanNamesForType(other, true, false);
		if (others.length > 0 && beanFactory.getBeanNamesForType(suitable, true, false).length == 0) {
			throw new LockConfigurationException(LockError.INVALID_PROPERTY,
					"The property " + OnRowLockCondition.PROPERTY + " is " + strategy + ", but the bean '" + others[0]
							+ "' " + fact,
					"Set the property to what the bean does. Where the application is processed ahead of time, set "
							+ "it for the build too");
		}
	}

}
