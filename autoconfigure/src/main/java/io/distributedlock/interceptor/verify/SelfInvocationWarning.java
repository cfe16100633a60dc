package io.distributedlock.interceptor.verify;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.asm.Type;
import org.springframework.util.ClassUtils;

import io.distributedlock.LockError;
import io.distributedlock.interceptor.LockedMethod;
import io.distributedlock.interceptor.LockedMethodRegistry;
import io.distributedlock.interceptor.MockitoMocks;
import io.distributedlock.interceptor.expression.MethodNames;
import io.distributedlock.interceptor.verify.OwnCallReader.Place;
import io.distributedlock.interceptor.verify.OwnCallVisitor.OwnCall;

/**
 * Warning that an object calls, or refers to, a locked method of its own. Such a call
 * does not pass the proxy, so that it runs without the lock. The code of a class is
 * searched once. Safe for use by many threads.
 */
public final class SelfInvocationWarning {

	private static final Log logger = LogFactory.getLog(SelfInvocationWarning.class);

	private final LockedMethodRegistry methods;

	private final Set<Class<?>> searched = ConcurrentHashMap.newKeySet();

	public SelfInvocationWarning(LockedMethodRegistry methods) {
		this.methods = methods;
	}

	/**
	 * Searches a class that has locked methods, unless that was done before.
	 * @param type the class of the bean, or of a proxy or a target of it
	 * @param bean the bean; a mock runs no code of its class
	 */
	public void check(Class<?> type, Object bean) {
		Class<?> userClass = ClassUtils.getUserClass(type);
		if (logger.isWarnEnabled() && this.searched.add(userClass) && !MockitoMocks.isMock(bean)) {
			Set<String> names = this.methods.methods(type).stream().map(Method::getName).collect(Collectors.toSet());
			new Search(type, userClass, names).run();
		}
	}

	/** The search of one class, with the classes and interfaces that it inherits from. */
	private final class Search {

		private final Class<?> type;

		private final Class<?> userClass;

		private final Set<String> names;

		private final Set<Class<?>> hierarchy = new LinkedHashSet<>();

		private final List<FoundCall> calls = new ArrayList<>();

		/** The methods that are called as those of a superclass. */
		private final Set<String> inherited = new HashSet<>();

		/** The calls that were logged: a method may have several calls of another. */
		private final Set<String> logged = new HashSet<>();

		Search(Class<?> type, Class<?> userClass, Set<String> names) {
			this.type = type;
			this.userClass = userClass;
			this.names = names;
			for (Class<?> above = userClass; above != null; above = above.getSuperclass()) {
				this.hierarchy.add(above);
			}
			this.hierarchy.addAll(ClassUtils.getAllInterfacesForClassAsSet(userClass));
		}

		void run() {
			for (Class<?> candidate : this.hierarchy) {
				if (!Proxy.isProxyClass(candidate) && !isOfFramework(candidate)) {
					OwnCallReader.read(candidate, (place, call) -> add(candidate, place, call));
				}
			}
			this.calls.forEach(this::check);
		}

		private void add(Class<?> declaring, Place place, OwnCall call) {
			if (call.special()) {
				this.inherited.add(call.name() + arguments(call.descriptor()));
			}
			if (call.name().equals(OwnCall.HANDED_OVER)) {
				addHandOver(declaring, place, call);
			}
			else if (this.names.contains(call.name())) {
				this.calls.add(new FoundCall(declaring, place, call, null));
			}
		}

		/** Adds the calls that other code can make of an object that it was given. */
		private void addHandOver(Class<?> declaring, Place place, OwnCall call) {
			for (Class<?> type : this.hierarchy) {
				if (Type.getInternalName(type).equals(call.owner())) {
					for (Method method : type.getMethods()) {
						if (this.names.contains(method.getName())) {
							this.calls.add(new FoundCall(declaring, place, new OwnCall(call.line(), false, call.owner(),
									method.getName(), Type.getMethodDescriptor(method)), type));
						}
					}
				}
			}
		}

		private void check(FoundCall found) {
			Place place = found.place();
			OwnCall call = found.call();
			Method called = method(call);
			LockedMethod locked = (called != null) ? SelfInvocationWarning.this.methods.find(called, this.type) : null;
			if (called == null || locked == null) {
				return;
			}
			Method caller = (place.descriptor() != null) ? method(found.declaring(), place.method(), place.descriptor())
					: null;
			LockedMethod around = (caller != null) ? SelfInvocationWarning.this.methods.find(caller, this.type) : null;
			boolean override = place.method().equals(call.name())
					&& arguments(place.descriptor()).equals(arguments(call.descriptor()));
			if (!(call.special() && (override || isWithoutLock(called))) && (around == null || !around.covers(locked))
					&& (caller == null || isRun(caller))) {
				warn(found, AopUtils.getMostSpecificMethod(called, this.userClass), locked.attribute().name());
			}
		}

		/**
		 * Returns whether a method is not overridden, or its override may call it, as
		 * that of a proxy does.
		 */
		private boolean isRun(Method method) {
			Method specific = AopUtils.getMostSpecificMethod(method, this.userClass);
			return specific.equals(method) || Proxy.isProxyClass(specific.getDeclaringClass())
					|| this.inherited.contains(method.getName() + arguments(Type.getMethodDescriptor(method)));
		}

		/** Returns whether an inherited method has no lock although its override has. */
		private boolean isWithoutLock(Method called) {
			return !AopUtils.getMostSpecificMethod(called, this.userClass).equals(called)
					&& !SelfInvocationWarning.this.methods.isDeclaredOnMethod(called, called.getDeclaringClass());
		}

		private void warn(FoundCall found, Method called, String name) {
			Place place = found.place();
			OwnCall call = found.call();
			String caller = place.className() + "." + place.method();
			String described = MethodNames.describe(called, this.userClass);
			if (this.logged.add(caller + " " + described)) {
				String file = (place.file() != null) ? place.file() : "Unknown Source";
				String fact = (found.handedOver() != null)
						? ") hands its own object over as " + found.handedOver().getName() + ", whose locked method "
								+ described + " is then called past the proxy, so that it runs without the lock"
						: ") calls the locked method " + described
								+ " on its own object, past the proxy, so that this call runs without the lock";
				logger.warn(LockError.SELF_INVOCATION.describe(
						caller + "(" + file + ((call.line() > 0) ? ":" + call.line() : "") + fact,
						"Call it through the bean, which can be injected into itself as a @Lazy dependency, move it to"
								+ " another bean, or run the work with LockOperations.execute;"
								+ " LockAssert.assertHeld(\"" + name
								+ "\") in the locked method makes such a call fail"));
			}
		}

		/**
		 * Finds the method that a call names, unless it is private and so never locked.
		 */
		private @Nullable Method method(OwnCall call) {
			for (Class<?> candidate : this.hierarchy) {
				if (!call.special() || candidate.getName().equals(call.owner().replace('/', '.'))) {
					return method(candidate, call.name(), call.descriptor());
				}
			}
			return null;
		}

		/** Finds a method in a class or in what that inherits from. */
		private @Nullable Method method(Class<?> from, String name, String descriptor) {
			for (Class<?> candidate : this.hierarchy) {
				if (candidate.isAssignableFrom(from)) {
					for (Method method : candidate.getDeclaredMethods()) {
						if (method.getName().equals(name) && !Modifier.isPrivate(method.getModifiers())
								&& Type.getMethodDescriptor(method).equals(descriptor)) {
							return method;
						}
					}
				}
			}
			return null;
		}

		private static String arguments(@Nullable String descriptor) {
			return (descriptor != null) ? descriptor.substring(0, descriptor.indexOf(')')) : "";
		}

		private static boolean isOfFramework(Class<?> type) {
			return type.getName().startsWith("java.") || type.getName().startsWith("org.springframework.");
		}

	}

	/**
	 * A call of a method that has the name of a locked one.
	 *
	 * @param declaring the class whose code has the call
	 * @param place where it is
	 * @param call the call
	 * @param handedOver the type as which the object is handed over to the code that
	 * makes the call, or {@code null} if the object makes it
	 */
	private record FoundCall(Class<?> declaring, Place place, OwnCall call, @Nullable Class<?> handedOver) {
	}

}
