package io.distributedlock.autoconfigure;

import java.lang.annotation.Annotation;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionMessage.Style;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Condition that the application has a bean by which a store is reached: one that is
 * injected everywhere, or one that has the qualifier of the locks and so need not be.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Conditional(ConditionalOnStoreBean.OnStoreBeanCondition.class)
public @interface ConditionalOnStoreBean {

	/** Type of the bean. */
	Class<?> type();

	/** Qualifier of the bean that only locks use. */
	Class<? extends Annotation> qualifier();

	/** Looks at the definitions only, so that no bean is created. */
	final class OnStoreBeanCondition extends SpringBootCondition implements ConfigurationCondition {

		@Override
		public ConfigurationPhase getConfigurationPhase() {
			return ConfigurationPhase.REGISTER_BEAN;
		}

		@Override
		@SuppressWarnings("unchecked")
		public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
			MergedAnnotation<ConditionalOnStoreBean> annotation = metadata.getAnnotations()
				.get(ConditionalOnStoreBean.class);
			Class<?> type = annotation.getClass("type");
			Class<? extends Annotation> qualifier = (Class<? extends Annotation>) annotation.getClass("qualifier");
			ConfigurableListableBeanFactory beanFactory = Objects.requireNonNull(context.getBeanFactory());
			List<String> usable = new ArrayList<>();
			for (String name : BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beanFactory, type, true, false)) {
				if (isUsable(name, beanFactory, qualifier)) {
					usable.add(name);
				}
			}
			ConditionMessage.Builder message = ConditionMessage.forCondition("Lock store bean",
					type.getName() + " or @" + qualifier.getSimpleName());
			return usable.isEmpty() ? ConditionOutcome.noMatch(message.didNotFind("any beans").atAll())
					: ConditionOutcome.match(message.found("bean", "beans").items(Style.QUOTE, usable));
		}

		private static boolean isUsable(String name, ConfigurableListableBeanFactory beanFactory,
				Class<? extends Annotation> qualifier) {
			if (!beanFactory.containsBeanDefinition(name) && !beanFactory.containsSingleton(name)
					&& beanFactory.getParentBeanFactory() instanceof ConfigurableListableBeanFactory parent) {
				return isUsable(name, parent, qualifier);
			}
			BeanDefinition definition = beanFactory.containsBeanDefinition(name)
					? beanFactory.getMergedBeanDefinition(name) : null;
			if (definition == null) {
				return true;
			}
			boolean injected = definition.isAutowireCandidate()
					&& (!(definition instanceof AbstractBeanDefinition bean) || bean.isDefaultCandidate());
			return injected || beanFactory.findAnnotationOnBean(name, qualifier, false) != null
					|| (definition instanceof AbstractBeanDefinition bean && bean.hasQualifier(qualifier.getName()));
		}

	}

}
