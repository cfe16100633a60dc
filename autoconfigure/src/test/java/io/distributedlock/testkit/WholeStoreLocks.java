package io.distributedlock.testkit;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLocksProvider;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * Resource locks of the fault contract: a test with {@link WholeStore} has the store for
 * itself, all others share it.
 */
final class WholeStoreLocks implements ResourceLocksProvider {

	@Override
	public Set<Lock> provideForMethod(List<Class<?>> enclosing, Class<?> testClass, Method test) {
		boolean whole = AnnotationSupport.isAnnotated(test, WholeStore.class);
		return Set.of(new Lock("store", whole ? ResourceAccessMode.READ_WRITE : ResourceAccessMode.READ));
	}

}
