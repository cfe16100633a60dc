package io.distributedlock.interceptor;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.util.ClassUtils;

/**
 * Check that refuses locked methods as init or destroy methods of a bean, named by its
 * definition or inferred by the container, which calls them on the bare object.
 */
final class InitAndDestroyMethods {

	private InitAndDestroyMethods() {
	}

	static void check(BeanDefinition definition, Class<?> type, LockedMethodRegistry methods) {
		if (definition instanceof AbstractBeanDefinition bean && methods.isLocked(type)) {
			Class<?> userClass = ClassUtils.getUserClass(type);
			List<String> names = namesOf(bean, userClass);
			for (Method method : methods.methods(type)) {
				if (names.contains(method.getName()) && method.getParameterCount() == 0
						&& methods.isDeclaredOnMethod(method, userClass)) {
					throw LockedMethodChecks.lifecycleMethod(method, userClass, "init or destroy method of its bean");
				}
			}
		}
	}

	private static List<String> namesOf(AbstractBeanDefinition bean, Class<?> type) {
		List<String> names = new ArrayList<>();
		addAll(bean.getInitMethodNames(), names);
		if (!bean.isPrototype()) {
			addAll(bean.getDestroyMethodNames(), names);
			boolean closeable = AutoCloseable.class.isAssignableFrom(type);
			boolean inferred = names.remove(AbstractBeanDefinition.INFER_METHOD)
					|| (bean.getDestroyMethodName() == null && closeable);
			if (inferred && !DisposableBean.class.isAssignableFrom(type)) {
				names.add((closeable || ClassUtils.hasMethod(type, "close")) ? "close" : "shutdown");
			}
		}
		return names;
	}

	private static void addAll(String @Nullable [] added, List<String> names) {
		if (added != null) {
			names.addAll(Arrays.asList(added));
		}
	}

}
