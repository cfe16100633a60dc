package io.distributedlock.testkit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLocksProvider;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * A test that does something to all of the store, so that no other may run beside it.
 * These wait for each other in one thread, and keep none of those that others run in.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Execution(ExecutionMode.SAME_THREAD)
@interface WholeStore {

	/** The store belongs to one test where it says so, and else to all of them. */
	final class Locks implements ResourceLocksProvider {

		@Override
		public Set<Lock> provideForMethod(List<Class<?>> enclosing, Class<?> testClass, Method test) {
			boolean whole = AnnotationSupport.isAnnotated(test, WholeStore.class);
			return Set.of(new Lock("store", whole ? ResourceAccessMode.READ_WRITE : ResourceAccessMode.READ));
		}

	}

}
