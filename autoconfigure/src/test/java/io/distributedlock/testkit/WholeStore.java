package io.distributedlock.testkit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Test that affects all of a store, so that no other test of the fault contract runs at
 * the same time. For the contract's own tests and for those that a subclass of
 * {@link LockProviderFaultContract} adds.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Execution(ExecutionMode.SAME_THREAD)
public @interface WholeStore {

}
