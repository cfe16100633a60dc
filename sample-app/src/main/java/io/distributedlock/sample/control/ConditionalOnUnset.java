package io.distributedlock.sample.control;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Condition of a server within the sample: the user has named none of theirs by one of
 * the usual properties.
 */
@Conditional(ConditionalOnUnset.OnUnset.class)
@Retention(RetentionPolicy.RUNTIME)
@Target({ ElementType.TYPE, ElementType.METHOD })
@interface ConditionalOnUnset {

	/** The properties that name a server. */
	String[] value();

	/** Looks for the properties. */
	class OnUnset implements Condition {

		@Override
		public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
			Map<String, Object> attributes = Objects
				.requireNonNull(metadata.getAnnotationAttributes(ConditionalOnUnset.class.getName()));
			String[] properties = (String[]) Objects.requireNonNull(attributes.get("value"));
			return Stream.of(properties).noneMatch(context.getEnvironment()::containsProperty);
		}

	}

}
