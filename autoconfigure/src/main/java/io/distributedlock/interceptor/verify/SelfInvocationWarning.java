package io.distributedlock.interceptor.verify;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.asm.Type;
import org.springframework.util.ClassUtils;

import io.distributedlock.LockError;
import io.distributedlock.interceptor.LockedMethod;
import io.distributedlock.interceptor.LockedMethodRegistry;

/**
 * Warning of {@code pay(…)} and {@code this.pay(…)} where {@code pay} is a locked method
 * of the same object: such a call does not pass the proxy, so that it runs without the
 * lock. Searched once are a class, its lambdas and what it inherits. Not found are
 * {@code this::pay}, {@code super.pay(…)}, and calls on a variable, in inner classes, or
 * with a condition, a calculation or an array among the arguments. Safe for use by many
 * threads.
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
	 */
	public void check(Class<?> type) {
		Class<?> userClass = ClassUtils.getUserClass(type);
		if (logger.isWarnEnabled() && this.searched.add(userClass)) {
			search(userClass, type, new HashSet<>());
		}
	}

	/**
	 * Searches a class and what it inherits, except methods that are overridden, and
	 * those of the JDK and of Spring, which no application can change.
	 */
	private void search(@Nullable Class<?> declaring, Class<?> type, Set<String> overridden) {
		boolean inherited = declaring != ClassUtils.getUserClass(type);
		if (declaring == null || declaring.getName().startsWith("java.")
				|| (inherited && declaring.getName().startsWith("org.springframework."))) {
			return;
		}
		try (InputStream file = declaring.getResourceAsStream(ClassUtils.getClassFileName(declaring))) {
			new ClassReader(file).accept(visitor(declaring, type, overridden), 0);
		}
		catch (IOException | RuntimeException ex) {
			logger.debug("Calls of its own locked methods are not searched in " + declaring, ex);
		}
		search(declaring.getSuperclass(), type, overridden);
		for (Class<?> implemented : declaring.getInterfaces()) {
			search(implemented, type, overridden);
		}
	}

	/** Visitor of one class file. */
	private ClassVisitor visitor(Class<?> declaring, Class<?> type, Set<String> overridden) {
		return new ClassVisitor(SpringAsmInfo.ASM_VERSION) {

			@Override
			public @Nullable MethodVisitor visitMethod(int access, String name, String descriptor,
					@Nullable String signature, String @Nullable [] exceptions) {
				boolean bare = (access & (Opcodes.ACC_STATIC | Opcodes.ACC_BRIDGE)) != 0;
				LockedMethod caller = find(type, name + descriptor);
				return (!bare && overridden.add(name + descriptor)) ? new OwnCallVisitor((called, line) -> {
					LockedMethod locked = find(type, called);
					if (locked != null && (caller == null || !caller.covers(locked))) {
						warn(declaring.getName() + "." + name, line, locked);
					}
				}) : null;
			}

		};
	}

	/** Finds a locked method by its name and descriptor. */
	private @Nullable LockedMethod find(Class<?> type, String signature) {
		for (Method method : this.methods.methods(type)) {
			if (signature.equals(method.getName() + Type.getMethodDescriptor(method))) {
				return this.methods.find(method, type);
			}
		}
		return null;
	}

	private static void warn(String caller, int line, LockedMethod called) {
		logger.warn(LockError.SELF_INVOCATION.describe(
				caller + " (line " + line + ") calls the locked method " + called.described()
						+ " on its own object, past the proxy, so that this call runs without the lock",
				"Call it through the bean, which can be injected into itself as a @Lazy dependency, move it to"
						+ " another bean, or run the work with LockOperations.execute; LockAssert.assertHeld(\""
						+ called.attribute().name() + "\") in the locked method makes such a call fail"));
	}

}
