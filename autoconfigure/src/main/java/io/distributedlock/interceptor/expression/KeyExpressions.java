package io.distributedlock.interceptor.expression;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.expression.EvaluationContext;
import org.springframework.expression.spel.SpelEvaluationException;
import org.springframework.expression.spel.SpelMessage;

import io.distributedlock.InvalidLockKeyException;
import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockKey;

/**
 * The parsed key expressions of one method. Parsed once; evaluated once for each call,
 * before the lock is acquired. The values of arguments are data and never parsed.
 */
public final class KeyExpressions {

	private static final Set<SpelMessage> FAILURES_OF_ARGUMENTS = EnumSet.of(
			SpelMessage.PROPERTY_OR_FIELD_NOT_READABLE_ON_NULL, SpelMessage.METHOD_CALL_ON_NULL_OBJECT_NOT_ALLOWED,
			SpelMessage.CANNOT_INDEX_INTO_NULL_VALUE, SpelMessage.ARRAY_INDEX_OUT_OF_BOUNDS,
			SpelMessage.COLLECTION_INDEX_OUT_OF_BOUNDS, SpelMessage.STRING_INDEX_OUT_OF_BOUNDS);

	private final String name;

	private final MethodExpressions method;

	private final List<KeyText> parts;

	public KeyExpressions(String name, List<String> keys, MethodExpressions method) {
		this.name = name;
		this.method = method;
		this.parts = keys.stream()
			.map((key) -> new KeyText(method.method(), KeyTree.of(method.parse("key", key), method.method())))
			.toList();
	}

	public List<LockKey> resolve(MethodInvocation invocation) {
		EvaluationContext context = this.method.context(invocation);
		String[] parts = new String[this.parts.size()];
		List<String> elements = null;
		int place = -1;
		for (int i = 0; i < parts.length; i++) {
			KeyText text = this.parts.get(i);
			Object value = text.unwrap(evaluate(text, context));
			List<?> several = text.elements(value);
			if (several == null) {
				parts[i] = text.of(value);
			}
			else if (elements != null) {
				throw text.mistake(LockError.TWO_COLLECTIONS, "is the second collection of one composite key",
						"Let at most one of the expressions return several values");
			}
			else {
				elements = several.stream().map(text::ofElement).toList();
				place = i;
			}
		}
		if (elements == null) {
			return List.of(LockKey.of(this.name, parts));
		}
		List<LockKey> keys = new ArrayList<>(elements.size());
		for (String element : elements) {
			parts[place] = element;
			keys.add(LockKey.of(this.name, parts));
		}
		return keys;
	}

	private static @Nullable Object evaluate(KeyText text, EvaluationContext context) {
		try {
			return text.expression().getValue(context);
		}
		catch (LockException ex) {
			throw ex;
		}
		catch (RuntimeException ex) {
			String problem = text.describe("could not be evaluated: " + ex.getMessage());
			String action = "Let the expression fit every argument that the method may be called with";
			throw isOfArguments(ex) ? new InvalidLockKeyException(LockError.KEY_EVALUATION, problem, action, ex)
					: new LockConfigurationException(LockError.KEY_EVALUATION, problem, action, ex);
		}
	}

	/** Tells a value that the expression does not fit from a failure of what it calls. */
	private static boolean isOfArguments(RuntimeException ex) {
		return (ex instanceof SpelEvaluationException failure)
				? FAILURES_OF_ARGUMENTS.contains(failure.getMessageCode())
				: ex instanceof IllegalArgumentException || ex instanceof IndexOutOfBoundsException;
	}

}
