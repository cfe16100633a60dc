package io.distributedlock.interceptor.expression;

import org.springframework.expression.TypedValue;
import org.springframework.expression.spel.ExpressionState;
import org.springframework.expression.spel.SpelNode;
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
 * Check of the operands of a concatenation such as {@code 'order:' + #id}, which SpEL
 * would join as {@code order:null}. The operators are built anew when the key is parsed,
 * with checked operands, so that each operand is evaluated once.
 */
public final class KeyConcatenation {

	private KeyConcatenation() {
	}

	public static SpelExpression check(SpelExpression expression, String method) {
		SpelNodeImpl root = (SpelNodeImpl) expression.getAST();
		SpelNodeImpl checked = rebuild(root, new KeyText(method, expression));
		return (checked != root)
				? new SpelExpression(expression.getExpressionString(), checked, new SpelParserConfiguration())
				: expression;
	}

	/** Rebuilds what has a concatenation as its value; other nodes stay. */
	private static SpelNodeImpl rebuild(SpelNodeImpl node, KeyText text) {
		SpelNodeImpl[] children = childrenOf(node);
		boolean concatenation = node instanceof OpPlus && children.length == 2;
		boolean changed = concatenation;
		for (int i = 0; i < children.length; i++) {
			SpelNodeImpl child = rebuild(children[i], text);
			changed |= child != children[i];
			children[i] = (concatenation && !(child instanceof OpPlus) && !(child instanceof Literal))
					? new Operand(child, text) : child;
		}
		return changed ? copyOf(node, children) : node;
	}

	private static SpelNodeImpl[] childrenOf(SpelNodeImpl node) {
		SpelNodeImpl[] children = new SpelNodeImpl[node.getChildCount()];
		for (int i = 0; i < children.length; i++) {
			children[i] = (SpelNodeImpl) node.getChild(i);
		}
		return children;
	}

	private static SpelNodeImpl copyOf(SpelNodeImpl node, SpelNodeImpl[] children) {
		int start = node.getStartPosition();
		int end = node.getEndPosition();
		if (node instanceof OpPlus) {
			return new OpPlus(start, end, children);
		}
		if (node instanceof Ternary) {
			return new Ternary(start, end, children);
		}
		if (node instanceof Elvis) {
			return new Elvis(start, end, children);
		}
		if (node instanceof InlineList) {
			return new InlineList(start, end, children);
		}
		return (node instanceof CompoundExpression) ? new CompoundExpression(start, end, children) : node;
	}

	/** An operand whose value has to have a text that is the same in every process. */
	private static final class Operand extends SpelNodeImpl {

		private final SpelNode node;

		private final KeyText text;

		Operand(SpelNodeImpl node, KeyText text) {
			super(node.getStartPosition(), node.getEndPosition(), node);
			this.node = node;
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
			return this.node.toStringAST();
		}

	}

}
