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
 * Condition on how a database keeps locks, whichever form the property has that stands
 * for it.
 */
public abstract class JdbcStrategyCondition extends SpringBootCondition {

	public static final String PROPERTY = "distributed-lock.jdbc.strategy";

	private final JdbcStrategy strategy;

	JdbcStrategyCondition(JdbcStrategy strategy) {
		this.strategy = strategy;
	}

	/**
	 * Returns the strategy that the property names, or {@code null} if it is not set.
	 */
	public static @Nullable JdbcStrategy strategy(Environment environment) {
		return (NamedProvider.isPrepared(environment) && !environment.containsProperty(PROPERTY)) ? null
				: Binder.get(environment).bind(PROPERTY, JdbcStrategy.class).orElse(null);
	}

	@Override
	public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
		JdbcStrategy named = strategy(context.getEnvironment());
		JdbcStrategy chosen = (named != null) ? named : JdbcStrategy.LEASE;
		return new ConditionOutcome(chosen == this.strategy,
				ConditionMessage.forCondition("JDBC strategy").because(PROPERTY + " is " + chosen));
	}

	/** Condition that locks are leases. */
	public static final class OnLease extends JdbcStrategyCondition {

		OnLease() {
			super(JdbcStrategy.LEASE);
		}

	}

	/** Condition that locks are row locks. */
	public static final class OnRowLock extends JdbcStrategyCondition {

		OnRowLock() {
			super(JdbcStrategy.ROW_LOCK);
		}

	}

}
