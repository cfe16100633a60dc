package io.distributedlock.interceptor.expression;

import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.expression.AccessException;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.PropertyAccessor;
import org.springframework.expression.TypedValue;
import org.springframework.expression.spel.support.ReflectivePropertyAccessor;
import org.springframework.expression.spel.support.StandardEvaluationContext;

/**
 * The evaluation context of one call's expressions: the arguments as variables. All that
 * does not change by the call comes from a shared context, whose lists are only read.
 * Spring's {@code MethodBasedEvaluationContext} is filled anew for each call instead.
 */
final class KeyEvaluationContext extends StandardEvaluationContext {

	private final Map<String, Integer> indexes;

	private final @Nullable Object[] args;

	/** The failure of a property, which ends the evaluation. */
	private @Nullable AccessException failedRead;

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

	/**
	 * Accessor of properties that SpEL may keep: an optimal one it asks for again with
	 * each call, unless it compiles the expression. SpEL reads a property again after the
	 * accessor that it has kept has failed; that read does not call the getter again.
	 */
	static final class KeptPropertyAccessor extends ReflectivePropertyAccessor {

		KeptPropertyAccessor() {
			super(false);
		}

		@Override
		public PropertyAccessor createOptimalAccessor(EvaluationContext context, @Nullable Object target, String name) {
			return this;
		}

		@Override
		public TypedValue read(EvaluationContext context, @Nullable Object target, String name) throws AccessException {
			KeyEvaluationContext call = (KeyEvaluationContext) context;
			if (call.failedRead != null) {
				throw call.failedRead;
			}
			try {
				return super.read(context, target, name);
			}
			catch (AccessException ex) {
				call.failedRead = ex;
				throw ex;
			}
		}

	}

}
