package io.distributedlock.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.TypeVariable;
import java.util.concurrent.Future;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.core.KotlinDetector;
import org.springframework.core.Nullness;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.interceptor.expression.MethodNames;

/**
 * The declared result of a locked method: its empty value, and which values fit it.
 *
 * @param method the locked method
 * @param targetClass the class that it is called on
 */
record DeclaredResult(Method method, Class<?> targetClass) {

	/** Returns the method, for messages. */
	String described() {
		return MethodNames.describe(this.method, this.targetClass);
	}

	ResolvableType type() {
		return ResolvableType.forMethodReturnType(this.method, this.targetClass);
	}

	private Class<?> rawType() {
		return type().resolve(this.method.getReturnType());
	}

	/**
	 * Finds the value of a call that is skipped.
	 * @return its supplier, or {@code null} if only {@code null} or a publisher without
	 * elements can be that value
	 */
	@Nullable Supplier<Object> findEmpty() {
		boolean ofCaller = this.method.getGenericReturnType() instanceof TypeVariable<?> variable
				&& variable.getGenericDeclaration() instanceof Method;
		return ofCaller ? null : EmptyResults.of(type());
	}

	/**
	 * Returns why the result has no value for a call that is skipped.
	 * @return the rest of a sentence about the result, or {@code null} if it has one
	 */
	@Nullable String whyNeverEmpty() {
		if (rawType() == void.class || ResultKind.of(rawType()).isReactive()) {
			return null;
		}
		if (rawType().isPrimitive()) {
			return "is primitive and has no value for 'skipped'";
		}
		return (findEmpty() == null && isNonNullInKotlin()) ? "is not nullable in Kotlin and has no empty value" : null;
	}

	/**
	 * Refuses a value that the caller could not receive.
	 * @param value the value
	 * @param origin what returned it, the subject of a sentence
	 * @return the value, or {@code null} if the method returns nothing
	 */
	@Nullable Object requireFitting(@Nullable Object value, Supplier<String> origin) {
		if (rawType() == void.class) {
			return null;
		}
		if ((value != null) ? !ClassUtils.isAssignableValue(rawType(), value) : !isNullable()) {
			throw new LockConfigurationException(LockError.UNSUITABLE_RESULT,
					origin.get() + " returned " + ((value != null) ? "a " + value.getClass().getName() : "null")
							+ " for the locked method " + described() + ", whose result is " + rawType().getTypeName(),
					"Return a value of that type, or throw an exception");
		}
		return value;
	}

	private boolean isNullable() {
		return !rawType().isPrimitive() && ResultKind.of(rawType()) == ResultKind.VALUE
				&& !Future.class.isAssignableFrom(rawType()) && !isNonNullInKotlin();
	}

	/** A type variable may stand for a nullable type. */
	private boolean isNonNullInKotlin() {
		return !(this.method.getGenericReturnType() instanceof TypeVariable)
				&& KotlinDetector.isKotlinType(this.method.getDeclaringClass())
				&& Nullness.forMethodReturnType(this.method) == Nullness.NON_NULL;
	}

}
