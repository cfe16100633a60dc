package io.distributedlock.autoconfigure;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.ConfigurationPropertyState;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Condition that the properties name the servers of a quorum, be it an empty list.
 */
public final class OnRedisQuorumCondition extends SpringBootCondition {

	public static final String NODES = "distributed-lock.redis.quorum.nodes";

	private static final ConfigurationPropertyName NAME = ConfigurationPropertyName.of(NODES);

	@Override
	public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
		return outcome(context.getEnvironment());
	}

	static ConditionOutcome outcome(Environment environment) {
		ConditionMessage.Builder message = ConditionMessage.forCondition("Quorum of Redis servers");
		return isSet(environment) ? ConditionOutcome.match(message.because(NODES + " is set"))
				: ConditionOutcome.noMatch(message.because(NODES + " is not set"));
	}

	static boolean isSet(Environment environment) {
		for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
			if (source.getConfigurationProperty(NAME) != null
					|| source.containsDescendantOf(NAME) == ConfigurationPropertyState.PRESENT) {
				return true;
			}
		}
		return false;
	}

	/** Condition that the properties name no such servers. */
	public static final class Unset extends SpringBootCondition {

		@Override
		public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
			ConditionOutcome set = outcome(context.getEnvironment());
			return new ConditionOutcome(!set.isMatch(), set.getConditionMessage());
		}

	}

}
