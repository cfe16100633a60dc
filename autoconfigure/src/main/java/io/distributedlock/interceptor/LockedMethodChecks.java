package io.distributedlock.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.stream.Stream;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;

/** Refuses methods on which a lock would be without effect. */
final class LockedMethodChecks {

	private static final Set<String> LIFECYCLE = Set.of("jakarta.annotation.PostConstruct",
			"jakarta.annotation.PreDestroy", "org.springframework.context.annotation.Bean");

	private LockedMethodChecks() {
	}

	static void check(Method method, Class<?> targetClass, LockAttribute attribute, boolean declaredOnMethod) {
		checkProxyable(method, targetClass);
		if (declaredOnMethod) {
			checkLifecycle(method, targetClass);
		}
		checkResult(method, targetClass);
		checkSkip(method, targetClass, attribute);
	}

	static String describe(Method method, Class<?> targetClass) {
		StringBuilder text = new StringBuilder(targetClass.getName()).append('.').append(method.getName()).append('(');
		for (Class<?> type : method.getParameterTypes()) {
			text.append((text.charAt(text.length() - 1) == '(') ? "" : ", ").append(type.getSimpleName());
		}
		return text.append(')').toString();
	}

	/** What a JDK proxy makes is final, and can be proxied once more all the same. */
	private static void checkProxyable(Method method, Class<?> targetClass) {
		if (Proxy.isProxyClass(method.getDeclaringClass())) {
			return;
		}
		String modifier = Stream.of(Modifier.PRIVATE, Modifier.STATIC, Modifier.FINAL)
			.filter((candidate) -> (method.getModifiers() & candidate) != 0)
			.map(Modifier::toString)
			.findFirst()
			.orElse(null);
		if (modifier != null) {
			throw new LockConfigurationException(LockError.NOT_PROXYABLE,
					"The locked method " + describe(method, targetClass) + " is " + modifier
							+ ", so that no proxy can intercept it and it would run without its lock",
					"Remove '" + modifier
							+ "', or move the annotation to a method that callers reach through the bean");
		}
		if (isHiddenFrom(method, targetClass)) {
			throw new LockConfigurationException(LockError.NOT_PROXYABLE,
					"The locked method " + describe(method, targetClass) + " is package-private in "
							+ method.getDeclaringClass().getName()
							+ ", so that no proxy of the class in another package can intercept it",
					"Make it public or protected");
		}
	}

	private static boolean isHiddenFrom(Method method, Class<?> targetClass) {
		boolean packagePrivate = (method.getModifiers()
				& (Modifier.PUBLIC | Modifier.PROTECTED | Modifier.PRIVATE)) == 0;
		Class<?> declaring = method.getDeclaringClass();
		return packagePrivate && (!declaring.getPackageName().equals(targetClass.getPackageName())
				|| declaring.getClassLoader() != targetClass.getClassLoader());
	}

	private static void checkLifecycle(Method method, Class<?> targetClass) {
		String callback = MergedAnnotations.from(method)
			.stream()
			.map(MergedAnnotation::getType)
			.map(Class::getName)
			.filter(LIFECYCLE::contains)
			.map((name) -> "@" + name.substring(name.lastIndexOf('.') + 1))
			.findFirst()
			.orElse(isContainerCallback(method, targetClass) ? "container callback" : null);
		if (callback != null) {
			throw new LockConfigurationException(LockError.LIFECYCLE_METHOD,
					"The locked method " + describe(method, targetClass) + " is a " + callback
							+ " method, which the container calls on the bare object, without its lock",
					"Move the work to a method of another bean that is annotated, or use LockOperations.execute");
		}
	}

	private static boolean isContainerCallback(Method method, Class<?> targetClass) {
		if (method.getParameterCount() > 0) {
			return false;
		}
		return (method.getName().equals("afterPropertiesSet") && InitializingBean.class.isAssignableFrom(targetClass))
				|| (method.getName().equals("destroy") && DisposableBean.class.isAssignableFrom(targetClass));
	}

	private static void checkResult(Method method, Class<?> targetClass) {
		Class<?> result = method.getReturnType();
		if (finishesLater(result)) {
			throw unsupportedResult(method, targetClass, result.getName());
		}
		Class<?>[] parameters = method.getParameterTypes();
		if (parameters.length > 0
				&& parameters[parameters.length - 1].getName().equals("kotlin.coroutines.Continuation")) {
			throw unsupportedResult(method, targetClass, "the result of a suspend function");
		}
	}

	private static boolean finishesLater(Class<?> result) {
		return Future.class.isAssignableFrom(result) || CompletionStage.class.isAssignableFrom(result)
				|| Callable.class.isAssignableFrom(result) || isPublisher(result)
				|| (result != Object.class && ReactiveAdapterRegistry.getSharedInstance().getAdapter(result) != null);
	}

	/** By name: neither Reactor nor Reactive Streams need to be there. */
	private static boolean isPublisher(Class<?> type) {
		for (Class<?> current = type; current != null; current = current.getSuperclass()) {
			if (current.getName().equals("org.reactivestreams.Publisher")
					|| current.getName().equals("java.util.concurrent.Flow$Publisher")
					|| Stream.of(current.getInterfaces()).anyMatch(LockedMethodChecks::isPublisher)) {
				return true;
			}
		}
		return false;
	}

	private static LockConfigurationException unsupportedResult(Method method, Class<?> targetClass, String result) {
		return new LockConfigurationException(LockError.UNSUPPORTED_RESULT,
				"The locked method " + describe(method, targetClass) + " gives " + result
						+ ", which finishes after the method has returned and its lock was released",
				"Lock the method that does the work, or wait for the result inside the locked method");
	}

	private static void checkSkip(Method method, Class<?> targetClass, LockAttribute attribute) {
		Class<?> result = method.getReturnType();
		if (attribute.onBusy() == OnBusy.SKIP && result.isPrimitive() && result != void.class) {
			throw new LockConfigurationException(LockError.SKIP_ON_PRIMITIVE,
					"The locked method " + describe(method, targetClass) + " has onBusy = SKIP, but gives " + result
							+ ", which has no value for 'skipped'",
					"Return void, an object type or an Optional, or use onBusy = FAIL");
		}
	}

}
