package io.distributedlock.interceptor.expression;

import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.expression.EvaluationContext;
import org.springframework.expression.spel.support.StandardEvaluationContext;

/**
 * The evaluation context of one call's expressions: the arguments as variables. All that
 * does not change by the call comes from a shared context, whose lists are only read.
 * Spring's {@code MethodBasedEvaluationContext} is filled anew for each call instead.
 */
final class KeyEvaluationContext extends StandardEvaluationContext {

	private final Map<String, Integer> indexes;

	private final @Nullable Object[] args;

	KeyEvaluationContext(EvaluationContext shared, Map<String, Integer> indexes, KeyRoot root) {
		super(root);
		this.indexes = indexes;
		this.args = root.args();
		setPropertyAccessors(shared.getPropertyAccessors());
		setIndexAccessors(shared.getIndexAccessors());
		setConstructorResolvers(shared.getConstructorResolvers());
		setMethodResolvers(shared.getMethodResolvers());
		setBeanResolver(shared.getBeanResolver());
		setTypeLocator(shared.getTypeLocator());
		setTypeConverter(shared.getTypeConverter());
	}

	@Override
	public @Nullable Object lookupVariable(String name) {
		Integer index = this.indexes.get(name);
		return (index != null) ? this.args[index] : null;
	}

	@Override
	public boolean isAssignmentEnabled() {
		return false;
	}

}
