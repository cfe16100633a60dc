package io.distributedlock.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Condition that a database keeps locks as row locks, whichever form the property has.
 */
public final class OnRowLockCondition extends SpringBootCondition {

	static final String PROPERTY = "distributed-lock.jdbc.strategy";

	/**
	 * Returns the strategy that the property names, or {@code null} if it is not set.
	 */
	static @Nullable JdbcStrategy strategy(Environment environment) {
		return (NamedProvider.isPrepared(environment) && !environment.containsProperty(PROPERTY)) ? null
				: Binder.get(environment).bind(PROPERTY, JdbcStrategy.class).orElse(null);
	}

	@Override
	public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
		JdbcStrategy named = strategy(context.getEnvironment());
		return new ConditionOutcome(named == JdbcStrategy.ROW_LOCK, ConditionMessage.forCondition("JDBC strategy")
			.because(PROPERTY + " is " + ((named != null) ? named : JdbcStrategy.LEASE)));
	}

}
