package io.distributedlock.autoconfigure;

import java.lang.annotation.Annotation;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurationImportFilter;
import org.springframework.boot.autoconfigure.AutoConfigurationMetadata;
import org.springframework.boot.autoconfigure.condition.ConditionEvaluationReport;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionMessage.Style;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.EnvironmentAware;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Condition that a store may keep locks: the property names it, or it names none and the
 * application has no locks of its own; and there is a bean by which it is reached.
 */
@Target({ ElementType.TYPE, ElementType.METHOD })
@Retention(RetentionPolicy.RUNTIME)
@Conditional(ConditionalOnLockStore.OnStoreCondition.class)
public @interface ConditionalOnLockStore {

	/** Name of the provider. */
	String value();

	/** Whether the property has to name the provider. */
	boolean onlyIfNamed() default false;

	/** Type of the bean by which the store is reached, if it needs one. */
	Class<?> bean() default void.class;

	/**
	 * Qualifier of a bean that only locks use, and that need not be injected elsewhere.
	 */
	Class<? extends Annotation> qualifier() default Annotation.class;

	/**
	 * The condition, and a filter that leaves out auto-configurations, of stores and of
	 * the fence, that the properties rule out, before their classes are read. The
	 * conditions report tells of both alike.
	 */
	final class OnStoreCondition extends SpringBootCondition implements ConfigurationCondition,
			AutoConfigurationImportFilter, BeanFactoryAware, EnvironmentAware, PriorityOrdered {

		private static final String PACKAGE = "io.distributedlock.autoconfigure.";

		private static final String QUORUM = PACKAGE + "redis.RedisQuorumLockAutoConfiguration";

		private static final String FENCING = PACKAGE + "fencing.LockFencingAutoConfiguration";

		/** The stores by the names of classes, which are not loaded. */
		private static final Map<String, String> STORES = Map.of(QUORUM, "redis",
				PACKAGE + "redis.RedisLockAutoConfiguration", "redis", PACKAGE + "jdbc.JdbcLockAutoConfiguration",
				"jdbc", PACKAGE + "zookeeper.ZooKeeperLockAutoConfiguration", "zookeeper");

		private @Nullable BeanFactory beanFactory;

		private @Nullable Environment environment;

		@Override
		public void setBeanFactory(BeanFactory beanFactory) {
			this.beanFactory = beanFactory;
		}

		@Override
		public void setEnvironment(Environment environment) {
			this.environment = environment;
		}

		/**
		 * Returns an order before Spring Boot's filters, which load classes of the
		 * clients.
		 */
		@Override
		public int getOrder() {
			return Ordered.HIGHEST_PRECEDENCE;
		}

		@Override
		public boolean[] match(@Nullable String[] classes, AutoConfigurationMetadata metadata) {
			boolean[] matches = new boolean[classes.length];
			for (int i = 0; i < classes.length; i++) {
				matches[i] = classes[i] == null || matches(classes[i]);
			}
			return matches;
		}

		/**
		 * Reads properties for our own classes only: Spring Boot asks for each class that
		 * any auto-configuration imports, one by one.
		 */
		private boolean matches(String type) {
			if (type.equals(FENCING)) {
				return matches(type, new OnFenceCondition(), OnFenceCondition.outcome(properties()));
			}
			String store = STORES.get(type);
			return store == null || (matches(type, this, outcome(store, false, NamedProvider.of(properties())))
					&& (!type.equals(QUORUM) || matches(type, new OnRedisQuorumCondition(),
							OnRedisQuorumCondition.outcome(properties()))));
		}

		private Environment properties() {
			return Objects.requireNonNull(this.environment, "The environment is set first");
		}

		private boolean matches(String type, SpringBootCondition condition, ConditionOutcome outcome) {
			if (!outcome.isMatch() && this.beanFactory instanceof ConfigurableListableBeanFactory present) {
				ConditionEvaluationReport.get(present).recordConditionEvaluation(type, condition, outcome);
			}
			return outcome.isMatch();
		}

		@Override
		public ConfigurationPhase getConfigurationPhase() {
			return ConfigurationPhase.REGISTER_BEAN;
		}

		/** Looks at the definitions of beans only, so that none is created. */
		@Override
		public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
			MergedAnnotation<ConditionalOnLockStore> annotation = metadata.getAnnotations()
				.get(ConditionalOnLockStore.class);
			NamedProvider named = NamedProvider.of(context.getEnvironment());
			ConfigurableListableBeanFactory beans = Objects.requireNonNull(context.getBeanFactory());
			String store = annotation.getString("value");
			ConditionOutcome outcome = outcome(store, annotation.getBoolean("onlyIfNamed"), named);
			if (outcome.isMatch() && named.name() == null && LockBeans.replaceStores(beans)) {
				return ConditionOutcome
					.noMatch(message(store).because("the application defines a LockProvider or LockOperations, and "
							+ NamedProvider.PROPERTY + " does not name this one"));
			}
			Class<?> bean = outcome.isMatch() ? annotation.getClass("bean") : void.class;
			return (bean != void.class) ? outcome(outcome, bean, annotation.getClass("qualifier"), beans) : outcome;
		}

		private static ConditionOutcome outcome(String store, boolean onlyIfNamed, NamedProvider named) {
			if (named.is(store)) {
				return ConditionOutcome.match(message(store).because(NamedProvider.PROPERTY + " names it"));
			}
			if (named.name() != null) {
				return ConditionOutcome
					.noMatch(message(store).because(NamedProvider.PROPERTY + " is '" + named.name() + "'"));
			}
			return onlyIfNamed
					? ConditionOutcome.noMatch(message(store).because(NamedProvider.PROPERTY + " does not name it"))
					: ConditionOutcome.match(message(store).because(NamedProvider.PROPERTY
							+ " is not set, so that every store of the application is a candidate"));
		}

		private static ConditionMessage.Builder message(String store) {
			return ConditionMessage.forCondition(ConditionalOnLockStore.class, store);
		}

		private static ConditionOutcome outcome(ConditionOutcome ofStore, Class<?> type, Class<?> qualifier,
				ConfigurableListableBeanFactory beans) {
			List<String> usable = BeanTypes.names(beans, type)
				.stream()
				.filter((name) -> LockBeans.isDefaultCandidate(name, beans) || hasQualifier(name, qualifier, beans))
				.toList();
			ConditionMessage.Builder message = ofStore.getConditionMessage()
				.andCondition("Lock store bean", type.getName() + " or @" + qualifier.getSimpleName());
			return usable.isEmpty() ? ConditionOutcome.noMatch(message.didNotFind("any beans").atAll())
					: ConditionOutcome.match(message.found("bean", "beans").items(Style.QUOTE, usable));
		}

		private static boolean hasQualifier(String name, Class<?> qualifier, ConfigurableListableBeanFactory beans) {
			if (!beans.containsBeanDefinition(name)) {
				return beans.getParentBeanFactory() instanceof ConfigurableListableBeanFactory parent
						&& hasQualifier(name, qualifier, parent);
			}
			return beans.findAnnotationOnBean(name, qualifier.asSubclass(Annotation.class), false) != null
					|| (beans.getMergedBeanDefinition(name) instanceof AbstractBeanDefinition bean
							&& bean.hasQualifier(qualifier.getName()));
		}

	}

}
