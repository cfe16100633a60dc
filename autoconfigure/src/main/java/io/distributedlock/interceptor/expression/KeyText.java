package io.distributedlock.interceptor.expression;

import java.math.BigDecimal;
import java.util.Arrays;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;

import org.jspecify.annotations.Nullable;

import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.util.ObjectUtils;

import io.distributedlock.InvalidLockKeyException;
import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockException;

/**
 * Conversion of the value of a key expression to text that is the same in every process.
 * Values without such a text are refused.
 *
 * @param method the locked method, for messages
 * @param expression the expression, for messages
 */
record KeyText(String method, SpelExpression expression) {

	/** The most places of a decimal that are written without an exponent. */
	private static final int PLAIN_PLACES = 400;

	@Nullable Object unwrap(@Nullable Object value) {
		if (value instanceof Optional<?> optional) {
			return unwrap(optional.orElse(null));
		}
		if (value instanceof OptionalLong optional) {
			return optional.isPresent() ? optional.getAsLong() : null;
		}
		if (value instanceof OptionalInt optional) {
			return optional.isPresent() ? optional.getAsInt() : null;
		}
		if (value instanceof OptionalDouble optional) {
			return optional.isPresent() ? optional.getAsDouble() : null;
		}
		return value;
	}

	@Nullable List<?> elements(@Nullable Object value) {
		List<?> elements = null;
		if (value instanceof Collection<?> collection) {
			elements = Arrays.asList(collection.toArray());
		}
		else if (ObjectUtils.isArray(value) && !(value instanceof byte[])) {
			elements = Arrays.asList(ObjectUtils.toObjectArray(value));
		}
		if (elements != null && elements.isEmpty()) {
			throw invalid(LockError.NO_KEYS, "is an empty collection",
					"Call the method only with at least one element: without a key it would run without a lock");
		}
		return elements;
	}

	String ofElement(@Nullable Object element) {
		Object value = unwrap(element);
		if (value instanceof Collection<?>) {
			throw invalid(LockError.KEY_WITHOUT_TEXT, "has a collection as an element",
					"Return a flat collection of ids");
		}
		return of(value);
	}

	String of(@Nullable Object value) {
		String text = (value instanceof String string) ? string : convert(value);
		if (text == null) {
			throw invalid(LockError.NULL_KEY, "is null, or has null in it",
					"Give each call a key: a null key would make unrelated calls share one lock");
		}
		if (text.isBlank()) {
			throw invalid(LockError.BLANK_KEY, "is blank",
					"Give each call a key: a blank key would make unrelated calls share one lock");
		}
		return text;
	}

	private @Nullable String convert(@Nullable Object value) {
		if (value instanceof Enum<?> constant) {
			return constant.name();
		}
		if (value instanceof Class<?> type) {
			return type.getName();
		}
		if (value instanceof byte[] bytes) {
			return HexFormat.of().formatHex(bytes);
		}
		if (value instanceof BigDecimal decimal) {
			return textOf(decimal);
		}
		return (value != null) ? textOf(value) : null;
	}

	/** Returns one text for equal numbers: {@code 1.0} and {@code 1.00} are {@code 1}. */
	private static String textOf(BigDecimal value) {
		BigDecimal stripped = value.stripTrailingZeros();
		return (Math.abs((long) stripped.scale()) <= PLAIN_PLACES) ? stripped.toPlainString() : stripped.toString();
	}

	private String textOf(Object value) {
		requireText(value);
		return value.toString();
	}

	/**
	 * Requires that the text of a value is the same in every process.
	 * @throws LockConfigurationException if no text of the value's class is
	 * @throws InvalidLockKeyException if that of this value is not
	 */
	void requireText(Object value) {
		KeyProblem problem = KeyValueCheck.findProblem(value);
		if (problem != null) {
			String fact = "is a " + value.getClass().getName() + ", which " + problem.fact()
					+ ", so that processes could lock different keys";
			throw (KeyType.of(value.getClass()).problem() != null)
					? mistake(LockError.KEY_WITHOUT_TEXT, fact, problem.remedy())
					: invalid(LockError.KEY_WITHOUT_TEXT, fact, problem.remedy());
		}
	}

	/** Returns the failure of a call with this value. */
	LockException invalid(LockError error, String fact, String action) {
		return new InvalidLockKeyException(error, describe(fact), action);
	}

	/** Returns the failure of each call with this expression. */
	LockException mistake(LockError error, String fact, String action) {
		return new LockConfigurationException(error, describe(fact), action);
	}

	String describe(String fact) {
		return "The key '" + this.expression.getExpressionString() + "' of locked method " + this.method + " " + fact;
	}

}
