package io.distributedlock.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.concurrent.Future;

import org.springframework.core.KotlinDetector;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.scheduling.annotation.Async;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.OnBusy;
import io.distributedlock.interceptor.expression.MethodNames;
import io.distributedlock.interceptor.expression.UnfinishedResults;

/** Checks that refuse methods on which a lock would be without effect. */
public final class LockedMethodChecks {

	public static final String KOTLIN_REMEDY = "Add 'open' to the class and the method, or build with the compiler plug-in"
			+ " kotlin-spring, which opens Spring's components";

	static final String HELD_RESULTS = "Declare the result as CompletableFuture, CompletionStage, Mono or Flux, which hold"
			+ " the lock until they are complete. Or lock the method that does the work";

	private LockedMethodChecks() {
	}

	static void check(Method method, Class<?> targetClass, LockAttribute attribute, boolean declaredOnMethod) {
		checkProxyable(method, targetClass);
		if (declaredOnMethod) {
			String callback = ContainerCallbacks.describe(method, targetClass);
			if (callback != null) {
				throw lifecycleMethod(method, targetClass, callback);
			}
		}
		checkResult(method, targetClass);
		checkOnBusy(method, targetClass, attribute);
	}

	/**
	 * Checks the modifiers, but not of a JDK proxy: its interfaces can be proxied again.
	 */
	private static void checkProxyable(Method method, Class<?> targetClass) {
		Class<?> declaring = method.getDeclaringClass();
		if (Proxy.isProxyClass(declaring)) {
			return;
		}
		String modifier = Modifier
			.toString(method.getModifiers() & (Modifier.PRIVATE | Modifier.STATIC | Modifier.FINAL))
			.replaceFirst(" .*", "");
		if (!modifier.isEmpty()) {
			boolean kotlin = Modifier.isFinal(method.getModifiers()) && KotlinDetector.isKotlinType(declaring);
			throw notProxyable(method, targetClass,
					"is " + modifier + ", so that no proxy can intercept it and it would run without its lock",
					kotlin ? KOTLIN_REMEDY : "Remove '" + modifier
							+ "', or move the annotation to a method that callers reach through the bean");
		}
		if (isHiddenFrom(method, targetClass)) {
			throw notProxyable(method, targetClass,
					"is package-private in " + declaring.getName()
							+ ", so that no proxy of the class in another package can intercept it",
					"Make it public or protected");
		}
	}

	public static LockConfigurationException notProxyable(Method method, Class<?> targetClass, String fact,
			String action) {
		return refused(LockError.NOT_PROXYABLE, method, targetClass, fact, action);
	}

	private static LockConfigurationException refused(LockError error, Method method, Class<?> targetClass, String fact,
			String action) {
		return new LockConfigurationException(error,
				"The locked method " + MethodNames.describe(method, targetClass) + " " + fact, action);
	}

	private static boolean isHiddenFrom(Method method, Class<?> targetClass) {
		boolean packagePrivate = (method.getModifiers()
				& (Modifier.PUBLIC | Modifier.PROTECTED | Modifier.PRIVATE)) == 0;
		Class<?> declaring = method.getDeclaringClass();
		return packagePrivate && (!declaring.getPackageName().equals(targetClass.getPackageName())
				|| declaring.getClassLoader() != targetClass.getClassLoader());
	}

	public static LockConfigurationException lifecycleMethod(Method method, Class<?> targetClass, String callback) {
		return new LockConfigurationException(LockError.LIFECYCLE_METHOD,
				"The container calls the locked method " + MethodNames.describe(method, targetClass)
						+ " as a callback (" + callback + "), on the bare object and so without its lock",
				"Move the work to a method of another bean that is annotated, or use LockOperations.execute");
	}

	private static void checkResult(Method method, Class<?> targetClass) {
		ResolvableType declared = ResolvableType.forMethodReturnType(method, targetClass);
		boolean held = ResultKind.of(method.getReturnType()) != ResultKind.VALUE;
		Class<?> result = UnfinishedResults.findType(held ? declared.getGeneric(0) : declared);
		boolean async = Future.class.isAssignableFrom(method.getReturnType()) && isAsync(method, targetClass);
		if (result != null && !async) {
			throw unsupportedResult(method, targetClass, result.getName());
		}
		Class<?>[] parameters = method.getParameterTypes();
		if (parameters.length > 0
				&& parameters[parameters.length - 1].getName().equals("kotlin.coroutines.Continuation")) {
			throw unsupportedResult(method, targetClass, "the result of a suspend function");
		}
	}

	private static LockConfigurationException unsupportedResult(Method method, Class<?> targetClass, String result) {
		return refused(LockError.UNSUPPORTED_RESULT, method, targetClass,
				"returns " + result + ", which finishes after the method has returned and its lock was released",
				HELD_RESULTS);
	}

	private static void checkOnBusy(Method method, Class<?> targetClass, LockAttribute attribute) {
		String unfit = (attribute.onBusy() == OnBusy.SKIP) ? new DeclaredResult(method, targetClass).whyNeverEmpty()
				: null;
		if (unfit != null) {
			throw refused(LockError.NO_EMPTY_RESULT, method, targetClass,
					"has onBusy = SKIP, but its result " + method.getReturnType().getTypeName() + " " + unfit,
					"Return void, a type that may be null, an Optional or a collection, or use onBusy = FAIL or a fallback");
		}
	}

	/**
	 * Returns whether a locked method is {@link Async}: Spring's advice for it has to run
	 * outside the lock's, so that the thread that runs the body holds the lock.
	 */
	public static boolean isAsync(Method method, Class<?> targetClass) {
		return MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY).isPresent(Async.class)
				|| MergedAnnotations.from(targetClass, SearchStrategy.TYPE_HIERARCHY).isPresent(Async.class);
	}

	public static LockConfigurationException asyncInsideLock(Method method, Class<?> targetClass) {
		return refused(LockError.ASYNC_INSIDE_LOCK, method, targetClass,
				"is @Async, but its task is submitted inside the lock, so that the task would run after the lock is"
						+ " released",
				"Let @EnableAsync use proxies (not AdviceMode.ASPECTJ) with its default order, or lock a method that the"
						+ " task calls");
	}

}
