package io.distributedlock.interceptor.expression;

import java.util.ArrayList;
import java.util.List;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.expression.EvaluationContext;
import org.springframework.expression.spel.standard.SpelExpression;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockKey;

/**
 * The parsed key expressions of one method. Parsed once; evaluated once for each call,
 * before the lock is acquired. The values of arguments are data and never parsed.
 */
public final class KeyExpressions {

	private final String name;

	private final MethodExpressions method;

	private final List<SpelExpression> expressions;

	private KeyExpressions(String name, MethodExpressions method, List<SpelExpression> expressions) {
		this.name = name;
		this.method = method;
		this.expressions = expressions;
	}

	public static KeyExpressions parse(String name, List<String> keys, MethodExpressions method) {
		return new KeyExpressions(name, method,
				keys.stream()
					.map((text) -> KeyConcatenation.check(method.parse("key", text), method.method()))
					.toList());
	}

	/** Returns the parsed expressions. */
	public List<SpelExpression> expressions() {
		return this.expressions;
	}

	public List<LockKey> resolve(MethodInvocation invocation) {
		EvaluationContext context = this.method.context(invocation);
		String[] parts = new String[this.expressions.size()];
		List<String> elements = null;
		int place = -1;
		for (int i = 0; i < parts.length; i++) {
			SpelExpression expression = this.expressions.get(i);
			KeyText text = new KeyText(this.method.method(), expression);
			Object value = text.unwrap(evaluate(expression, context));
			List<?> several = text.elements(value);
			if (several == null) {
				parts[i] = text.of(value);
			}
			else if (elements != null) {
				throw text.refused(LockError.TWO_COLLECTIONS, "is the second collection of one composite key",
						"Let at most one of the expressions return several values");
			}
			else {
				elements = several.stream().map(text::ofElement).toList();
				place = i;
			}
		}
		return keys(parts, elements, place);
	}

	private List<LockKey> keys(String[] parts, @Nullable List<String> elements, int place) {
		if (elements == null) {
			return List.of(LockKey.of(this.name, parts));
		}
		List<LockKey> keys = new ArrayList<>(elements.size());
		for (String element : elements) {
			parts[place] = element;
			keys.add(LockKey.of(this.name, parts.clone()));
		}
		return keys;
	}

	private @Nullable Object evaluate(SpelExpression expression, EvaluationContext context) {
		try {
			return expression.getValue(context);
		}
		catch (LockException ex) {
			throw ex;
		}
		catch (RuntimeException ex) {
			throw new LockConfigurationException(LockError.KEY_EVALUATION,
					"The key '" + expression.getExpressionString() + "' of locked method " + this.method.method()
							+ " could not be evaluated: " + ex.getMessage(),
					"Let the expression fit every argument that the method may be called with", ex);
		}
	}

}
