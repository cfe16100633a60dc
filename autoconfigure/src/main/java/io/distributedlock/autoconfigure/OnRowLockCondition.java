package io.distributedlock.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.jdbc.JdbcLockProvider;
import io.distributedlock.jdbc.rowlock.JdbcRowLockProvider;

/**
 * Condition that a database keeps locks as row locks, whichever form the property has.
 */
public final class OnRowLockCondition extends SpringBootCondition {

	private static final String PROPERTY = "distributed-lock.jdbc.strategy";

	private static final String PROVIDER = "distributedLockJdbcProvider";

	/**
	 * Returns the strategy that the property names, or {@code null} if it is not set.
	 */
	static @Nullable JdbcStrategy strategy(Environment environment) {
		return Binder.get(environment).bind(PROPERTY, JdbcStrategy.class).orElse(null);
	}

	@Override
	public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
		JdbcStrategy named = strategy(context.getEnvironment());
		return new ConditionOutcome(named == JdbcStrategy.ROW_LOCK, ConditionMessage.forCondition("JDBC strategy")
			.because(PROPERTY + " is " + ((named != null) ? named : JdbcStrategy.LEASE)));
	}

	/**
	 * Requires that the provider keeps locks as the property says, before any bean is
	 * created. A provider of the application may differ from it, and so may one that was
	 * chosen when the application was processed ahead of time.
	 */
	static void requireProvider(ConfigurableListableBeanFactory beanFactory, Environment environment) {
		JdbcStrategy strategy = strategy(environment);
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
					"The property " + PROPERTY + " is " + strategy + ", but the bean '" + others[0] + "' " + fact,
					"Set the property to what the bean does. Where the application is processed ahead of time, set "
							+ "it for the build too");
		}
	}

}
