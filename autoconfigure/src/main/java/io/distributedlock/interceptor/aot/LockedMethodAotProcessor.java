package io.distributedlock.interceptor.aot;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.RegisteredBean;

import io.distributedlock.interceptor.FallbackReaction;
import io.distributedlock.interceptor.LockedMethod;
import io.distributedlock.interceptor.LockedMethodRegistry;
import io.distributedlock.interceptor.verify.SelfInvocationWarning;

/**
 * Processor that registers what a native image has to keep for locked methods: what their
 * expressions read, and their fallbacks. A locked method that cannot work fails the
 * processing, as it would fail the start. Calls of a locked method on its own object are
 * reported here too, because an image has no class files to search.
 */
final class LockedMethodAotProcessor implements BeanRegistrationAotProcessor {

	@Override
	public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean bean) {
		ConfigurableListableBeanFactory beanFactory = bean.getBeanFactory();
		LockedMethodRegistry methods = beanFactory.getBeanProvider(LockedMethodRegistry.class).getIfAvailable();
		Class<?> type = bean.getBeanClass();
		if (methods == null || !methods.isLocked(type)) {
			return null;
		}
		new SelfInvocationWarning(methods).check(type);
		return (context, code) -> register(type, methods, beanFactory, context.getRuntimeHints().reflection());
	}

	private static void register(Class<?> type, LockedMethodRegistry methods, BeanFactory beanFactory,
			ReflectionHints hints) {
		ExpressionHints expressions = new ExpressionHints(hints, beanFactory);
		methods.methods(type).forEach((method) -> {
			LockedMethod locked = methods.find(method, type);
			if (locked != null) {
				expressions.register(locked, method, type);
				if (locked.onBusy() instanceof FallbackReaction reaction && reaction.method() != null) {
					hints.registerMethod(reaction.method(), ExecutableMode.INVOKE);
				}
			}
		});
	}

}
