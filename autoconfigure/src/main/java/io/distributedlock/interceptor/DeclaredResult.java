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

/** The declared result of a locked method: its empty value, and which values fit it. */
final class DeclaredResult {

	private final String described;

	private final ResolvableType type;

	private final Class<?> rawType;

	private final boolean ofKotlin;

	private final @Nullable Supplier<Object> empty;

	DeclaredResult(Method method, Class<?> targetClass) {
		this.described = MethodNames.describe(method, targetClass);
		this.type = ResolvableType.forMethodReturnType(method, targetClass);
		this.rawType = this.type.resolve(method.getReturnType());
		boolean variable = method.getGenericReturnType() instanceof TypeVariable<?> declared
				&& declared.getGenericDeclaration() instanceof Method;
		this.empty = variable ? null : EmptyResults.of(this.type);
		this.ofKotlin = !(method.getGenericReturnType() instanceof TypeVariable)
				&& KotlinDetector.isKotlinType(method.getDeclaringClass())
				&& Nullness.forMethodReturnType(method) == Nullness.NON_NULL;
	}

	/** Returns the type, with the type variables of the class of the bean resolved. */
	ResolvableType type() {
		return this.type;
	}

	/**
	 * Returns the value of a call that is skipped.
	 * @return the value; {@code null} also for a publisher without elements
	 */
	@Nullable Object empty() {
		return (this.empty != null) ? this.empty.get() : null;
	}

	/**
	 * Returns why the result has no value for a call that is skipped.
	 * @return the rest of a sentence about the result, or {@code null} if it has one
	 */
	@Nullable String whyNeverEmpty() {
		if (this.rawType.isPrimitive() && this.rawType != void.class) {
			return "is primitive and has no value for 'skipped'";
		}
		boolean never = this.ofKotlin && this.rawType != void.class && this.empty == null
				&& !ResultKind.of(this.rawType).isReactive();
		return never ? "is not nullable in Kotlin and has no empty value" : null;
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
							+ " for the locked method " + this.described + ", whose result is "
							+ this.rawType.getTypeName(),
					"Return a value of that type, or throw an exception");
		}
		return value;
	}

	private boolean isNullable() {
		return !this.rawType.isPrimitive() && !this.ofKotlin && ResultKind.of(this.rawType) == ResultKind.VALUE
				&& !Future.class.isAssignableFrom(this.rawType);
	}

}
