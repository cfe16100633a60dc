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

/** The declared result of a locked method: its empty value, and which values fit it. */
final class DeclaredResult {

	private final Method method;

	private final Class<?> targetClass;

	private final ResolvableType type;

	private final Class<?> rawType;

	DeclaredResult(Method method, Class<?> targetClass) {
		this.method = method;
		this.targetClass = targetClass;
		this.type = ResolvableType.forMethodReturnType(method, targetClass);
		this.rawType = this.type.resolve(method.getReturnType());
	}

	/** Returns the locked method. */
	Method method() {
		return this.method;
	}

	/**
	 * Finds the value of a call that is skipped.
	 * @return its supplier, or {@code null} if only {@code null} or a publisher without
	 * elements can be that value
	 */
	@Nullable Supplier<Object> findEmpty() {
		boolean ofCaller = this.method.getGenericReturnType() instanceof TypeVariable<?> variable
				&& variable.getGenericDeclaration() instanceof Method;
		return ofCaller ? null : EmptyResults.of(this.type);
	}

	/**
	 * Returns why the result has no value for a call that is skipped.
	 * @return the rest of a sentence about the result, or {@code null} if it has one
	 */
	@Nullable String whyNeverEmpty() {
		if (this.rawType == void.class || ResultKind.of(this.rawType).isReactive()) {
			return null;
		}
		if (this.rawType.isPrimitive()) {
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
		if (this.rawType == void.class) {
			return null;
		}
		if ((value != null) ? !ClassUtils.isAssignableValue(this.rawType, value) : !isNullable()) {
			throw new LockConfigurationException(LockError.UNSUITABLE_RESULT,
					origin.get() + " returned " + ((value != null) ? "a " + value.getClass().getName() : "null")
							+ " for the locked method " + MethodNames.describe(this.method, this.targetClass)
							+ ", whose result is " + this.rawType.getTypeName(),
					"Return a value of that type, or throw an exception");
		}
		return value;
	}

	private boolean isNullable() {
		return !this.rawType.isPrimitive() && ResultKind.of(this.rawType) == ResultKind.VALUE
				&& !Future.class.isAssignableFrom(this.rawType) && !isNonNullInKotlin();
	}

	/** A type variable may stand for a nullable type. */
	private boolean isNonNullInKotlin() {
		return !(this.method.getGenericReturnType() instanceof TypeVariable)
				&& KotlinDetector.isKotlinType(this.method.getDeclaringClass())
				&& Nullness.forMethodReturnType(this.method) == Nullness.NON_NULL;
	}

}
