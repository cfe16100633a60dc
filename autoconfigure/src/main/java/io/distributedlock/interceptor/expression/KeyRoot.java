package io.distributedlock.interceptor.expression;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;

/**
 * Root object of a key expression, {@code #root}.
 *
 * @param method the method that is called
 * @param target the target of the call
 * @param args the arguments
 */
@SuppressWarnings("ArrayRecordComponent") // read by expressions, never compared
public record KeyRoot(Method method, @Nullable Object target, @Nullable Object[] args) {

}
