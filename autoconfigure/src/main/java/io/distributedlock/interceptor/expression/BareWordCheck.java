package io.distributedlock.interceptor.expression;

import java.util.LinkedHashSet;
import java.util.Set;

import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.InlineMap;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.VariableReference;

/**
 * Words of an expression that are fixed text without quotes, or arguments without
 * {@code #}: SpEL would read them as properties of {@link KeyRoot}. Found are those that
 * it does not have, also as in {@code #root.nightly}, and those that it has but that are
 * used alone, such as {@code target}.
 */
final class BareWordCheck {

	private static final Set<String> PROPERTIES = Set.of("method", "target", "args", "class");

	private BareWordCheck() {
	}

	/** Returns whether the word is a property of {@code #root}. */
	static boolean isProperty(String word) {
		return PROPERTIES.contains(word);
	}

	static Set<String> in(SpelNode node) {
		Set<String> words = new LinkedHashSet<>();
		collect(node, words);
		return words;
	}

	private static void collect(SpelNode node, Set<String> words) {
		if (node instanceof Projection || node instanceof Selection) {
			return;
		}
		if (node instanceof PropertyOrFieldReference property) {
			words.add(property.getName());
			return;
		}
		for (int i = 0; i < node.getChildCount(); i++) {
			SpelNode child = node.getChild(i);
			if (!(child instanceof PropertyOrFieldReference property) || isUnquoted(property, node, i)) {
				collect(child, words);
			}
		}
	}

	/** Excludes properties of the value in front of them, and keys of a map. */
	private static boolean isUnquoted(PropertyOrFieldReference property, SpelNode parent, int index) {
		if (parent instanceof CompoundExpression) {
			return (index == 0 || (index == 1 && isRoot(parent.getChild(0)))) && !isProperty(property.getName());
		}
		return !(parent instanceof Indexer) && !(parent instanceof InlineMap && index % 2 == 0);
	}

	private static boolean isRoot(SpelNode node) {
		return node instanceof VariableReference && node.toStringAST().equals("#root");
	}

}
