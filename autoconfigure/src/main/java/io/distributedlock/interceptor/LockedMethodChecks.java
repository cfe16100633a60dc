package io.distributedlock.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.concurrent.Future;
import java.util.stream.Stream;

import org.springframework.core.KotlinDetector;
import org.springframework.core.ResolvableType;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.OnBusy;
import io.distributedlock.interceptor.expression.MethodNames;
import io.distributedlock.interceptor.expression.UnfinishedResults;

/** Checks that refuse methods on which a lock would be without effect. */
public final class LockedMethodChecks {

	public static final String KOTLIN_REMEDY = "Add 'open' to the class and the method, or build with the compiler plug-in"
			+ " kotlin-spring, which opens Spring's components";

	private LockedMethodChecks() {
	}

	static void check(Method method, Class<?> targetClass, LockAttribute attribute, boolean declaredOnMethod) {
		checkProxyable(method, targetClass);
		if (declaredOnMethod) {
			checkLifecycle(method, targetClass);
		}
		checkResult(method, targetClass);
		checkOnBusy(method, targetClass, attribute);
	}

	/**
	 * Checks the modifiers, but not of a JDK proxy: its interfaces can be proxied again.
	 */
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
					"The locked method " + MethodNames.describe(method, targetClass) + " is " + modifier
							+ ", so that no proxy can intercept it and it would run without its lock",
					(method.getModifiers() & Modifier.FINAL) != 0 && KotlinDetector
						.isKotlinType(method.getDeclaringClass()) ? KOTLIN_REMEDY
								: "Remove '" + modifier
										+ "', or move the annotation to a method that callers reach through the bean");
		}
		if (isHiddenFrom(method, targetClass)) {
			throw new LockConfigurationException(LockError.NOT_PROXYABLE,
					"The locked method " + MethodNames.describe(method, targetClass) + " is package-private in "
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
		String callback = ContainerCallbacks.describe(method, targetClass);
		if (callback != null) {
			throw lifecycleMethod(method, targetClass, callback);
		}
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
		boolean async = Future.class.isAssignableFrom(method.getReturnType())
				&& AsyncMethods.isAsync(method, targetClass);
		if (result != null && !async) {
			throw unsupportedResult(method, targetClass, result.getName());
		}
		Class<?>[] parameters = method.getParameterTypes();
		if (parameters.length > 0
				&& parameters[parameters.length - 1].getName().equals("kotlin.coroutines.Continuation")) {
			throw unsupportedResult(method, targetClass, "the result of a suspend function");
		}
	}

	static LockConfigurationException nonBlockingThread(String method) {
		return new LockConfigurationException(LockError.NON_BLOCKING_THREAD,
				"The locked method " + method + " was called on '" + Thread.currentThread().getName()
						+ "', a thread of an event loop, which must not wait for a lock",
				"Return a Mono: it waits without a thread. Or call the method on Schedulers.boundedElastic()");
	}

	static LockConfigurationException nullPublisher(String method) {
		return new LockConfigurationException(LockError.UNSUITABLE_RESULT,
				"The locked method " + method + " returned null in place of a publisher",
				"Return Mono.empty() or Flux.empty()");
	}

	static LockConfigurationException unfinishedResult(String method, Class<?> result) {
		return new LockConfigurationException(LockError.UNSUPPORTED_RESULT,
				"The locked method " + method + " returned a " + result.getName()
						+ " that is not finished: its work continues after the lock is released",
				"Declare the result as CompletableFuture, CompletionStage, Mono or Flux, which hold the lock until they"
						+ " are complete. Or lock the method that does the work");
	}

	private static LockConfigurationException unsupportedResult(Method method, Class<?> targetClass, String result) {
		return new LockConfigurationException(LockError.UNSUPPORTED_RESULT,
				"The locked method " + MethodNames.describe(method, targetClass) + " returns " + result
						+ ", which finishes after the method has returned and its lock was released",
				"Declare the result as CompletableFuture, CompletionStage, Mono or Flux, which hold the lock until they"
						+ " are complete. Or lock the method that does the work");
	}

	private static void checkOnBusy(Method method, Class<?> targetClass, LockAttribute attribute) {
		String unfit = (attribute.onBusy() == OnBusy.SKIP) ? new DeclaredResult(method, targetClass).whyNeverEmpty()
				: null;
		if (unfit != null) {
			throw new LockConfigurationException(LockError.NO_EMPTY_RESULT,
					"The locked method " + MethodNames.describe(method, targetClass)
							+ " has onBusy = SKIP, but its result " + method.getReturnType().getTypeName() + " "
							+ unfit,
					"Return void, a type that may be null, an Optional or a collection, or use onBusy = FAIL or a fallback");
		}
	}

}
