package io.distributedlock.autoconfigure;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.convert.ConversionException;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Condition that the properties switch the fence of transactions on. */
public final class OnFenceCondition extends SpringBootCondition {

	private static final String PROPERTY = "distributed-lock.fencing.enabled";

	@Override
	public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
		return outcome(context.getEnvironment());
	}

	static ConditionOutcome outcome(Environment environment) {
		boolean on = isOn(PROPERTY, false, environment);
		return new ConditionOutcome(on,
				ConditionMessage.forCondition("Fence of transactions").because(PROPERTY + " is " + on));
	}

	/**
	 * Returns whether a property is on, in every spelling of a boolean. Leaves the
	 * refusal of what is none to the binding of the properties.
	 */
	static boolean isOn(String property, boolean unset, Environment environment) {
		try {
			return environment.getProperty(property, Boolean.class, unset);
		}
		catch (ConversionException ex) {
			return true;
		}
	}

}
