package io.distributedlock.autoconfigure;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Condition that the properties switch the fence of transactions on. */
final class OnFenceCondition extends SpringBootCondition {

	private static final String PROPERTY = "distributed-lock.transaction.fence";

	@Override
	public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
		return outcome(context.getEnvironment());
	}

	static ConditionOutcome outcome(Environment environment) {
		boolean on = environment.getProperty(PROPERTY, Boolean.class, false);
		return new ConditionOutcome(on,
				ConditionMessage.forCondition("Fence of transactions").because(PROPERTY + " is " + on));
	}

}
