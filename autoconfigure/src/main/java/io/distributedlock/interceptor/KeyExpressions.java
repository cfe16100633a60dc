package io.distributedlock.interceptor;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.StandardEvaluationContext;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockKey;

/**
 * The parsed key expressions of one method. Parsed once; evaluated once for each call,
 * before the lock is acquired. The values of arguments are data and never parsed.
 */
final class KeyExpressions {

	private final String name;

	private final String method;

	private final List<SpelExpression> expressions;

	private final EvaluationContext shared;

	private final Map<String, Integer> variables;

	private KeyExpressions(String name, String method, List<SpelExpression> expressions, EvaluationContext shared,
			Map<String, Integer> variables) {
		this.name = name;
		this.method = method;
		this.expressions = expressions;
		this.shared = shared;
		this.variables = variables;
	}

	static KeyExpressions parse(LockAttribute attribute, Method method, Class<?> targetClass, BeanFactory beanFactory) {
		String described = MethodNames.describe(method, targetClass);
		SpelExpressionParser parser = new SpelExpressionParser(
				new SpelParserConfiguration(null, targetClass.getClassLoader()));
		KeyVariables variables = new KeyVariables(method, targetClass);
		List<SpelExpression> expressions = new ArrayList<>();
		for (String text : attribute.keys()) {
			expressions.add(parse(parser, text, described, variables));
		}
		return new KeyExpressions(attribute.name(), described, List.copyOf(expressions), sharedContext(beanFactory),
				variables.indexes());
	}

	private static EvaluationContext sharedContext(BeanFactory beanFactory) {
		StandardEvaluationContext context = new StandardEvaluationContext();
		context.setBeanResolver(new BeanFactoryResolver(beanFactory));
		return context;
	}

	private static SpelExpression parse(SpelExpressionParser parser, String text, String method,
			KeyVariables variables) {
		SpelExpression expression;
		try {
			expression = parser.parseRaw(text);
		}
		catch (ParseException | IllegalStateException | IllegalArgumentException ex) {
			throw new LockConfigurationException(LockError.INVALID_EXPRESSION,
					"The key '" + text + "' of locked method " + method + " is not an expression: " + ex.getMessage(),
					"Write SpEL such as \"#order.id\", and fixed text in quotes: \"'nightly'\"", ex);
		}
		checkWords(expression, method, variables);
		checkVariables(expression, method, variables);
		return expression;
	}

	private static void checkWords(SpelExpression expression, String method, KeyVariables variables) {
		Set<String> words = UnquotedWords.in(expression.getAST());
		if (!words.isEmpty()) {
			String word = words.iterator().next();
			String fact = UnquotedWords.isProperty(word) ? "which is a property of #root only as #root." + word
					: "which is neither a variable nor a property of #root";
			throw new LockConfigurationException(LockError.INVALID_EXPRESSION,
					"The key '" + expression.getExpressionString() + "' of locked method " + method + " uses '" + word
							+ "', " + fact,
					remedy(expression, word, variables));
		}
	}

	private static String remedy(SpelExpression expression, String word, KeyVariables variables) {
		if (variables.indexes().containsKey(word)) {
			return "Write \"#" + word + "\" for the argument";
		}
		String text = expression.getExpressionString();
		String quoted = (text.indexOf('\'') < 0 && text.indexOf('#') < 0) ? text : word;
		return "Write fixed text in quotes: \"'" + quoted + "'\", and an argument with #: \"#order.id\"";
	}

	private static void checkVariables(SpelExpression expression, String method, KeyVariables variables) {
		String key = "The key '" + expression.getExpressionString() + "' of locked method " + method + " uses ";
		Set<String> unknown = variables.unknownIn(expression.getAST());
		if (!unknown.isEmpty()) {
			throw new LockConfigurationException(LockError.UNKNOWN_VARIABLE,
					key + String.join(", ", unknown) + ", which the method does not have",
					variables.named() ? "Use the name of a parameter, or its position: #p0"
							: "Compile with -parameters, so that parameters keep their names, or use positions: #p0");
		}
		Set<String> ambiguous = variables.ambiguousIn(expression.getAST());
		if (!ambiguous.isEmpty()) {
			throw new LockConfigurationException(LockError.AMBIGUOUS_VARIABLE, key + String.join(", ", ambiguous)
					+ (ambiguous.contains("#root") ? ", which names both an argument and the call"
							: ", which names different arguments in the method and in a declaration that it implements"
									+ " or overrides"),
					"Give each parameter one name of its own, or use places: #a0");
		}
	}

	List<LockKey> resolve(MethodInvocation invocation) {
		EvaluationContext context = new KeyEvaluationContext(this.shared, this.variables,
				new KeyRoot(invocation.getMethod(), invocation.getThis(), invocation.getArguments()));
		String[] parts = new String[this.expressions.size()];
		List<String> elements = null;
		int place = -1;
		for (int i = 0; i < parts.length; i++) {
			SpelExpression expression = this.expressions.get(i);
			KeyText text = new KeyText(this.method, expression);
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
					"The key '" + expression.getExpressionString() + "' of locked method " + this.method
							+ " could not be evaluated: " + ex.getMessage(),
					"Let the expression fit every argument that the method may be called with", ex);
		}
	}

}
