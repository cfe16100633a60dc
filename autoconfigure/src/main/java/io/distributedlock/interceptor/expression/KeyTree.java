package io.distributedlock.interceptor.expression;

import java.util.Map;

import org.springframework.expression.TypedValue;
import org.springframework.expression.spel.ExpressionState;
import org.springframework.expression.spel.SpelCompilerMode;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.Elvis;
import org.springframework.expression.spel.ast.InlineList;
import org.springframework.expression.spel.ast.Literal;
import org.springframework.expression.spel.ast.OpPlus;
import org.springframework.expression.spel.ast.SpelNodeImpl;
import org.springframework.expression.spel.ast.Ternary;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.util.ObjectUtils;

import io.distributedlock.LockError;

/**
 * The syntax tree of a key, rebuilt when the key is parsed. The operands of a
 * concatenation such as {@code 'order:' + #id} are checked, which SpEL would join as
 * {@code order:null}; each operand is evaluated once.
 */
final class KeyTree {

	/** The nodes that can be rebuilt: those whose value is made of their children's. */
	private static final Map<Class<?>, NodeFactory> FACTORIES = Map.of(OpPlus.class, OpPlus::new, Ternary.class,
			Ternary::new, Elvis.class, Elvis::new, InlineList.class, InlineList::new, CompoundExpression.class,
			CompoundExpression::new);

	private KeyTree() {
	}

	static SpelExpression of(SpelExpression expression, String method) {
		SpelNodeImpl root = (SpelNodeImpl) expression.getAST();
		return new SpelExpression(expression.getExpressionString(), rebuild(root, new KeyText(method, expression)),
				new SpelParserConfiguration(SpelCompilerMode.OFF, null));
	}

	/** Rebuilds what gives an expression its value; other nodes stay. */
	private static SpelNodeImpl rebuild(SpelNodeImpl node, KeyText text) {
		SpelNodeImpl[] children = new SpelNodeImpl[node.getChildCount()];
		boolean concatenation = node instanceof OpPlus && children.length == 2;
		for (int i = 0; i < children.length; i++) {
			SpelNodeImpl child = rebuild((SpelNodeImpl) node.getChild(i), text);
			children[i] = (concatenation && !(child instanceof OpPlus) && !(child instanceof Literal))
					? new Operand(child, text) : child;
		}
		NodeFactory factory = FACTORIES.get(node.getClass());
		return (factory != null) ? factory.create(node.getStartPosition(), node.getEndPosition(), children) : node;
	}

	/** A constructor of nodes. */
	private interface NodeFactory {

		SpelNodeImpl create(int start, int end, SpelNodeImpl... children);

	}

	/** An operand whose value has to have a text that is the same in every process. */
	private static final class Operand extends SpelNodeImpl {

		private final KeyText text;

		Operand(SpelNodeImpl node, KeyText text) {
			super(node.getStartPosition(), node.getEndPosition(), node);
			this.text = text;
		}

		@Override
		public TypedValue getValueInternal(ExpressionState state) {
			TypedValue value = this.children[0].getValueInternal(state);
			Object unwrapped = this.text.unwrap(value.getValue());
			if (unwrapped == null) {
				throw this.text.invalid(LockError.NULL_KEY, "has null in it: " + toStringAST(),
						"Give each call a key: a null key would make unrelated calls share one lock");
			}
			if (!ObjectUtils.isArray(unwrapped)) {
				this.text.requireText(unwrapped);
			}
			return value;
		}

		@Override
		public String toStringAST() {
			return this.children[0].toStringAST();
		}

	}

}
