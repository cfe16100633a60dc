package io.distributedlock.interceptor;

import java.util.LinkedHashSet;
import java.util.Set;

import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.InlineMap;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;

/**
 * Words of an expression that would be read as properties of {@link KeyRoot} which it
 * does not have: fixed text without quotes, and arguments without {@code #}.
 */
final class BareWords {

	private static final Set<String> ROOT = Set.of("method", "target", "args", "class");

	private BareWords() {
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
			if (!ROOT.contains(property.getName())) {
				words.add(property.getName());
			}
			return;
		}
		for (int i = 0; i < node.getChildCount(); i++) {
			SpelNode child = node.getChild(i);
			if (!(child instanceof PropertyOrFieldReference) || isReadFromRoot(node, i)) {
				collect(child, words);
			}
		}
	}

	/** Excludes properties of the value in front of them, and keys of a map. */
	private static boolean isReadFromRoot(SpelNode parent, int index) {
		if (parent instanceof CompoundExpression) {
			return index == 0;
		}
		return !(parent instanceof Indexer) && !(parent instanceof InlineMap && index % 2 == 0);
	}

}
