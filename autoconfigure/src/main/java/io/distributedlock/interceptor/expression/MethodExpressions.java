package io.distributedlock.interceptor.expression;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

import org.aopalliance.intercept.MethodInvocation;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelCompilerMode;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.ReflectivePropertyAccessor;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.expression.spel.support.StandardTypeLocator;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;

/**
 * Parser of the expressions of one locked method, and source of the context that they are
 * evaluated in. The values of arguments are data and never parsed.
 */
public final class MethodExpressions {

	/** Properties of {@code #root} in Spring's cache annotations that a lock has not. */
	private static final Map<String, String> ROOT_OF_CACHES = Map.of("methodName", "#root.method.name", "targetClass",
			"#root.target.class");

	private final String method;

	private final SpelExpressionParser parser;

	private final KeyVariables variables;

	private final Map<String, Integer> indexes;

	private final EvaluationContext shared;

	private final List<SpelExpression> parsed = new ArrayList<>();

	public MethodExpressions(Method method, Class<?> targetClass, BeanFactory beanFactory) {
		this.method = MethodNames.describe(method, targetClass);
		// Compiled code would be made for the types of the first arguments alone.
		this.parser = new SpelExpressionParser(
				new SpelParserConfiguration(SpelCompilerMode.OFF, targetClass.getClassLoader()));
		this.variables = new KeyVariables(method, targetClass);
		this.indexes = this.variables.indexes();
		StandardEvaluationContext context = new StandardEvaluationContext();
		// The context class loader may be that of a thread which does not see the
		// application.
		context.setTypeLocator(new StandardTypeLocator(targetClass.getClassLoader()));
		context.setPropertyAccessors(List.of(new ReflectivePropertyAccessor(false)));
		context.setBeanResolver(new BeanFactoryResolver(beanFactory));
		this.shared = context;
	}

	/** Returns the locked method, for messages. */
	public String method() {
		return this.method;
	}

	/** Returns the expressions that were parsed so far. */
	public List<SpelExpression> parsed() {
		return this.parsed;
	}

	/** Returns the names of the beans that the expressions use. */
	public Set<String> beans() {
		Set<String> beans = new LinkedHashSet<>();
		this.parsed.forEach((expression) -> forEachNode(expression.getAST(), (node) -> {
			if (node instanceof BeanReference) {
				beans.add(node.toStringAST().replaceAll("^[@&]|'", ""));
			}
		}));
		return beans;
	}

	/** Returns the context of one call. */
	public EvaluationContext context(MethodInvocation invocation) {
		return new KeyEvaluationContext(this.shared, this.indexes,
				new KeyRoot(invocation.getMethod(), invocation.getThis(), invocation.getArguments()));
	}

	/**
	 * Parses an expression.
	 * @param attribute the attribute that has it, for messages
	 * @param text the expression
	 * @return the expression, whose variables the method has
	 * @throws LockConfigurationException if it cannot work
	 */
	public SpelExpression parse(String attribute, String text) {
		String described = "The " + attribute + " '" + text + "' of locked method " + this.method;
		SpelExpression expression;
		try {
			expression = this.parser.parseRaw(text);
		}
		catch (ParseException | IllegalStateException | IllegalArgumentException ex) {
			throw new LockConfigurationException(LockError.INVALID_EXPRESSION,
					described + " is not an expression: " + ex.getMessage(),
					attribute.equals("condition") ? "Write SpEL that is true or false, such as \"#order.total > 100\""
							: "Write SpEL such as \"#order.id\", and fixed text in quotes: \"'nightly'\"",
					ex);
		}
		checkWords(attribute, expression, described);
		checkVariables(expression, described + " uses ");
		this.parsed.add(expression);
		return expression;
	}

	/** Visits each node of an expression, a parent before its children. */
	public static void forEachNode(SpelNode node, Consumer<SpelNode> consumer) {
		consumer.accept(node);
		for (int i = 0; i < node.getChildCount(); i++) {
			forEachNode(node.getChild(i), consumer);
		}
	}

	private void checkWords(String attribute, SpelExpression expression, String described) {
		Set<String> words = BareWordCheck.in(expression.getAST());
		if (!words.isEmpty()) {
			String word = words.iterator().next();
			String fact = BareWordCheck.isProperty(word) ? "which is a property of #root only as #root." + word
					: "which is neither a variable nor a property of #root";
			throw new LockConfigurationException(LockError.INVALID_EXPRESSION,
					described + " uses '" + word + "', " + fact, remedy(attribute, expression, word));
		}
	}

	private String remedy(String attribute, SpelExpression expression, String word) {
		if (ROOT_OF_CACHES.containsKey(word)) {
			return "Write \"" + ROOT_OF_CACHES.get(word) + "\"";
		}
		if (this.indexes.containsKey(word)) {
			return "Write \"#" + word + "\" for the argument";
		}
		if (attribute.equals("condition")) {
			return "Write an argument with #, and fixed text inside a comparison in quotes: \"#order.state == 'OPEN'\"";
		}
		String text = expression.getExpressionString();
		String quoted = (text.indexOf('\'') < 0 && text.indexOf('#') < 0) ? text : word;
		return "Write fixed text in quotes: \"'" + quoted + "'\", and an argument with #: \"#order.id\"";
	}

	private void checkVariables(SpelExpression expression, String described) {
		Set<String> unknown = new LinkedHashSet<>();
		Set<String> ambiguous = new LinkedHashSet<>();
		forEachNode(expression.getAST(), (node) -> {
			String name = node.toStringAST().replaceFirst("^#", "").replaceFirst("\\(.*", "");
			if (node instanceof FunctionReference
					|| (node instanceof VariableReference && this.variables.isUnknown(name))) {
				unknown.add("#" + name);
			}
			else if (node instanceof VariableReference && this.variables.isAmbiguous(name)) {
				ambiguous.add("#" + name);
			}
		});
		if (!unknown.isEmpty()) {
			throw new LockConfigurationException(LockError.UNKNOWN_VARIABLE,
					described + String.join(", ", unknown) + ", which the method does not have",
					this.variables.named() ? "Use the name of a parameter, or its position: #p0"
							: "Compile with -parameters, so that parameters keep their names, or use positions: #p0");
		}
		if (!ambiguous.isEmpty()) {
			throw new LockConfigurationException(LockError.AMBIGUOUS_VARIABLE, described + String.join(", ", ambiguous)
					+ (ambiguous.contains("#root") ? ", which names both an argument and the call"
							: ", which names different arguments in the method and in a declaration that it implements"
									+ " or overrides"),
					"Give each parameter one name of its own, or use positions: #a0");
		}
	}

}
