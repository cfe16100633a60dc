package io.distributedlock.autoconfigure;

import java.lang.annotation.Annotation;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.context.annotation.Conditional;

/**
 * Condition that a store may keep locks: the property names it, or it names none and the
 * application has no locks of its own; and there is a bean by which it is reached.
 */
@Target({ ElementType.TYPE, ElementType.METHOD })
@Retention(RetentionPolicy.RUNTIME)
@Conditional(OnLockStoreCondition.class)
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

}
