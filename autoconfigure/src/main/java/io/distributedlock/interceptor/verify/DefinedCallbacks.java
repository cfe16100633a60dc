package io.distributedlock.interceptor.verify;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.util.ClassUtils;
import org.springframework.util.CollectionUtils;
import org.springframework.util.StringUtils;

import io.distributedlock.interceptor.LockedMethodChecks;
import io.distributedlock.interceptor.LockedMethodRegistry;

/**
 * Check that refuses locked methods that the container calls on the bare object because
 * of the bean's definition: init and destroy methods, named there or inferred, and
 * setters of its properties.
 */
final class DefinedCallbacks {

	private DefinedCallbacks() {
	}

	static void check(BeanDefinition definition, Class<?> type, LockedMethodRegistry methods) {
		if (definition instanceof AbstractBeanDefinition bean) {
			Class<?> userClass = ClassUtils.getUserClass(type);
			List<String> names = namesOf(bean, userClass);
			for (Method method : methods.methods(type)) {
				String callback = (names.contains(method.getName()) && method.getParameterCount() == 0)
						? "init or destroy method of its bean" : propertyOf(bean, method);
				if (callback != null && methods.isDeclaredOnMethod(method, userClass)) {
					throw LockedMethodChecks.lifecycleMethod(method, userClass, callback);
				}
			}
		}
	}

	private static @Nullable String propertyOf(AbstractBeanDefinition bean, Method method) {
		if (!bean.hasPropertyValues() || method.getParameterCount() != 1 || !method.getName().startsWith("set")) {
			return null;
		}
		String property = StringUtils.uncapitalizeAsProperty(method.getName().substring("set".length()));
		return bean.getPropertyValues().contains(property) ? "setter of the property '" + property + "' of its bean"
				: null;
	}

	private static List<String> namesOf(AbstractBeanDefinition bean, Class<?> type) {
		List<String> names = new ArrayList<>();
		CollectionUtils.mergeArrayIntoCollection(bean.getInitMethodNames(), names);
		if (!bean.isPrototype()) {
			CollectionUtils.mergeArrayIntoCollection(bean.getDestroyMethodNames(), names);
			boolean closeable = AutoCloseable.class.isAssignableFrom(type);
			boolean inferred = names.remove(AbstractBeanDefinition.INFER_METHOD)
					|| (bean.getDestroyMethodName() == null && closeable);
			if (inferred && !DisposableBean.class.isAssignableFrom(type)) {
				names.add((closeable || ClassUtils.hasMethod(type, "close")) ? "close" : "shutdown");
			}
		}
		return names;
	}

}
