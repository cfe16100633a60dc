package io.distributedlock.autoconfigure;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.Order;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Condition that a store may keep locks: the properties name it, or they name none and
 * the application has no locks of its own.
 */
@Target({ ElementType.TYPE, ElementType.METHOD })
@Retention(RetentionPolicy.RUNTIME)
@Conditional({ ConditionalOnLockStore.OnNamedStoreCondition.class, ConditionalOnLockStore.OnOwnLocksCondition.class })
public @interface ConditionalOnLockStore {

	/** Name of the provider. */
	String value();

	/** Whether the properties have to name the provider. */
	boolean onlyIfNamed() default false;

	/**
	 * Compares the store with the properties, before anything is read of a configuration
	 * that they leave out.
	 */
	@Order(Ordered.HIGHEST_PRECEDENCE + 100)
	final class OnNamedStoreCondition extends SpringBootCondition {

		@Override
		public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
			MergedAnnotation<ConditionalOnLockStore> annotation = metadata.getAnnotations()
				.get(ConditionalOnLockStore.class);
			return outcome(annotation.getString("value"), annotation.getBoolean("onlyIfNamed"),
					NamedProviders.of(context.getEnvironment()));
		}

		static ConditionOutcome outcome(String store, boolean onlyIfNamed, NamedProviders named) {
			ConditionMessage.Builder message = ConditionMessage.forCondition(ConditionalOnLockStore.class, store);
			if (named.contains(store)) {
				return ConditionOutcome.match(message
					.because((named.hasAdditional(store) ? NamedProviders.ADDITIONAL : NamedProviders.PRIMARY)
							+ " names it"));
			}
			if (named.primary() != null) {
				return ConditionOutcome.noMatch(message.because(NamedProviders.PRIMARY + " is '" + named.primary()
						+ "', and " + NamedProviders.ADDITIONAL + " does not name this one"));
			}
			return onlyIfNamed
					? ConditionOutcome.noMatch(message.because(
							"neither " + NamedProviders.PRIMARY + " nor " + NamedProviders.ADDITIONAL + " names it"))
					: ConditionOutcome.match(message.because(NamedProviders.PRIMARY
							+ " is not set, so that every store of the application is a candidate"));
		}

	}

	/** Leaves out a store that no property names if the application has its own locks. */
	final class OnOwnLocksCondition extends SpringBootCondition implements ConfigurationCondition {

		@Override
		public ConfigurationPhase getConfigurationPhase() {
			return ConfigurationPhase.REGISTER_BEAN;
		}

		@Override
		public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
			String store = metadata.getAnnotations().get(ConditionalOnLockStore.class).getString("value");
			ConditionMessage.Builder message = ConditionMessage.forCondition(ConditionalOnLockStore.class, store);
			if (NamedProviders.of(context.getEnvironment()).contains(store)) {
				return ConditionOutcome.match(message.because("a property names it"));
			}
			return OwnLockBeans.replaceStores(context.getBeanFactory())
					? ConditionOutcome
						.noMatch(message.because("the application defines a LockProvider or LockOperations, and "
								+ NamedProviders.PRIMARY + " does not name this one"))
					: ConditionOutcome.match(message.because("the application defines no locks of its own"));
		}

	}

}
