package io.distributedlock.interceptor.expression;

import java.util.Set;

import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.BeanReference;

/** The beans that an expression names, such as {@code @tenants}. */
final class BeanReferences {

	private BeanReferences() {
	}

	static void collect(SpelNode node, Set<String> names) {
		if (node instanceof BeanReference) {
			names.add(node.toStringAST().replaceAll("^[@&]|'", ""));
		}
		for (int i = 0; i < node.getChildCount(); i++) {
			collect(node.getChild(i), names);
		}
	}

}
