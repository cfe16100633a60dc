package io.distributedlock.interceptor;

import org.aopalliance.intercept.MethodInvocation;

import org.springframework.expression.spel.standard.SpelExpression;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.interceptor.expression.MethodExpressions;

/**
 * The condition of one locked method. Parsed once; evaluated once for each call, before
 * the key.
 *
 * @param method the method
 * @param expression the parsed expression
 */
record LockCondition(MethodExpressions method, SpelExpression expression) {

	static LockCondition parse(String text, MethodExpressions method) {
		return new LockCondition(method, method.parse("condition", text));
	}

	/** Returns the expression, for messages. */
	String text() {
		return this.expression.getExpressionString();
	}

	/**
	 * Returns whether a call needs the lock.
	 * @throws LockConfigurationException if the value is neither true nor false
	 */
	boolean isTrue(MethodInvocation invocation) {
		Object value;
		try {
			value = this.expression.getValue(this.method.context(invocation));
		}
		catch (LockException ex) {
			throw ex;
		}
		catch (RuntimeException ex) {
			throw new LockConfigurationException(LockError.CONDITION_EVALUATION,
					described() + " could not be evaluated: " + ex.getMessage(),
					"Let the expression fit every argument that the method may be called with", ex);
		}
		if (value instanceof Boolean result) {
			return result;
		}
		throw new LockConfigurationException(LockError.CONDITION_EVALUATION,
				described() + " is neither true nor false, but "
						+ ((value != null) ? "of type " + value.getClass().getName() : "null"),
				"Write an expression that is true or false for every call: \"#order.total > 100\","
						+ " or \"#order?.urgent == true\" where a part of it may be null");
	}

	private String described() {
		return "The condition '" + text() + "' of locked method " + this.method.method();
	}

}
