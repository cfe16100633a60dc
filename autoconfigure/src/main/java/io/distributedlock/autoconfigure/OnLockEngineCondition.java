package io.distributedlock.autoconfigure;

import java.util.Objects;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Condition that locks need an engine: neither the application nor a context above it has
 * {@link io.distributedlock.LockOperations}, or there is a store and one of them is
 * primary, as a decorator of the engine is.
 */
class OnLockEngineCondition extends SpringBootCondition implements ConfigurationCondition {

	@Override
	public ConfigurationPhase getConfigurationPhase() {
		return ConfigurationPhase.REGISTER_BEAN;
	}

	@Override
	public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
		ConditionMessage.Builder message = ConditionMessage.forCondition("Lock engine");
		ConfigurableListableBeanFactory beanFactory = Objects.requireNonNull(context.getBeanFactory());
		String[] operations = OwnLockBeans.operations(beanFactory);
		if (OwnLockBeans.replaceEngine(operations, beanFactory)) {
			return ConditionOutcome
				.noMatch(message.because("the application, or a context above it, defines LockOperations"));
		}
		if (operations.length > 0 && !OwnLockBeans.hasProvider(beanFactory)
				&& NamedProviders.of(context.getEnvironment()).primary() == null) {
			return ConditionOutcome.noMatch(message
				.because("the application defines primary LockOperations, and there is no store for others"));
		}
		return ConditionOutcome.match(message
			.because("the application defines no LockOperations, or only primary ones that decorate others"));
	}

}
