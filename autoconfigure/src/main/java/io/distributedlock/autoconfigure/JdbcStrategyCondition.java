package io.distributedlock.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

import io.distributedlock.autoconfigure.JdbcLockProperties.Strategy;

/**
 * Condition on how a database keeps locks, whichever form the property has that stands
 * for it.
 */
abstract class JdbcStrategyCondition extends SpringBootCondition {

	static final String PROPERTY = "distributed-lock.jdbc.strategy";

	private final Strategy strategy;

	JdbcStrategyCondition(Strategy strategy) {
		this.strategy = strategy;
	}

	/**
	 * Returns the strategy that the property names, or {@code null} if it is not set.
	 */
	static @Nullable Strategy strategy(Environment environment) {
		return (NamedProviders.isPrepared(environment) && !environment.containsProperty(PROPERTY)) ? null
				: Binder.get(environment).bind(PROPERTY, Strategy.class).orElse(null);
	}

	@Override
	public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
		Strategy named = strategy(context.getEnvironment());
		Strategy chosen = (named != null) ? named : Strategy.LEASE;
		return new ConditionOutcome(chosen == this.strategy,
				ConditionMessage.forCondition("JDBC strategy").because(PROPERTY + " is " + chosen));
	}

	/** Condition that locks are leases. */
	static final class OnLease extends JdbcStrategyCondition {

		OnLease() {
			super(Strategy.LEASE);
		}

	}

	/** Condition that locks are row locks. */
	static final class OnRowLock extends JdbcStrategyCondition {

		OnRowLock() {
			super(Strategy.ROW_LOCK);
		}

	}

}
