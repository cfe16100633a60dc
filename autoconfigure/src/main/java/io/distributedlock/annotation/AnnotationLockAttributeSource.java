package io.distributedlock.annotation;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.SpringProxy;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.StringValueResolver;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.LockMode;
import io.distributedlock.LockRequest;
import io.distributedlock.OnBusy;
import io.distributedlock.interceptor.LockAttribute;
import io.distributedlock.interceptor.LockAttributeSource;

/**
 * Source that reads {@link DistributedLock} from the method, the methods that it
 * overrides or implements, and else from its class and the types above that. Safe for use
 * by many threads.
 *
 * @since 0.1.0
 */
public final class AnnotationLockAttributeSource implements LockAttributeSource {

	private static final Log logger = LogFactory.getLog(AnnotationLockAttributeSource.class);

	/**
	 * A template, a variable, or text in quotes: not an apostrophe, "job #1" or
	 * "Invoices#close".
	 */
	private static final Pattern EXPRESSION_IN_NAME = Pattern
		.compile("#\\{|(?<![\\p{L}\\p{N}_])#[\\p{L}_]|^(['\"]).*\\1$|^'.*'\\s*\\+|\\+\\s*'.*'$");

	private final StringValueResolver placeholders;

	private final DefaultNames names = new DefaultNames();

	private final LockAnnotationPresence presence = new LockAnnotationPresence();

	private final ScheduledJobCheck scheduledJobs = new ScheduledJobCheck();

	/**
	 * Creates a source.
	 * @param placeholders the resolver of <code>${…}</code> in the annotations' texts
	 */
	public AnnotationLockAttributeSource(StringValueResolver placeholders) {
		this.placeholders = placeholders;
	}

	@Override
	public boolean isCandidateClass(Class<?> targetClass) {
		try {
			return this.presence.isInHierarchy(targetClass);
		}
		catch (IllegalStateException ex) {
			if (ex.getCause() instanceof NoClassDefFoundError
					&& !LockAnnotationPresence.mayBeInHierarchy(targetClass)) {
				logger.debug("No locked methods in " + targetClass.getName() + ": a type in its methods is missing");
				return false;
			}
			return true;
		}
	}

	@Override
	public boolean isDeclaredOnMethod(Method method, Class<?> targetClass) {
		return !findOnMethod(method, AopUtils.getMostSpecificMethod(method, targetClass), targetClass).isEmpty();
	}

	@Override
	public @Nullable LockAttribute getLockAttribute(Method method, Class<?> targetClass) {
		Method specific = AopUtils.getMostSpecificMethod(method, targetClass);
		List<MergedAnnotation<DistributedLock>> annotations = findOnMethod(method, specific, targetClass);
		if (annotations.isEmpty() && isOfAnnotatedType(specific, targetClass)) {
			annotations = NearestAnnotations.of(List.of(targetClass));
		}
		if (annotations.isEmpty()) {
			return null;
		}
		// The target of a proxy may have an annotation of its own, and is read by itself.
		if (areDifferent(annotations) && !SpringProxy.class.isAssignableFrom(targetClass)) {
			throw severalAnnotations(annotations, specific, targetClass);
		}
		LockAttribute attribute = new Reader(annotations.get(0), specific, targetClass).read();
		this.scheduledJobs.check(specific, targetClass, attribute, annotations.get(0));
		return attribute;
	}

	/** Returns whether an annotation on a type applies: to what callers call. */
	private static boolean isOfAnnotatedType(Method method, Class<?> targetClass) {
		return Modifier.isPublic(method.getModifiers()) && !Modifier.isStatic(method.getModifiers())
				&& !method.isSynthetic() && !ReflectionUtils.isObjectMethod(method) && !isOfFramework(method)
				&& !isCallback(method, targetClass);
	}

	/** Recognizes methods such as {@code getApplicationContext()} of Spring's classes. */
	private static boolean isOfFramework(Method method) {
		return Modifier.isFinal(method.getModifiers())
				&& method.getDeclaringClass().getName().startsWith("org.springframework.");
	}

	private static boolean isCallback(Method method, Class<?> targetClass) {
		return SmartInitializingSingleton.class.isAssignableFrom(targetClass)
				&& ClassUtils.hasMethod(SmartInitializingSingleton.class, method);
	}

	/** Those without a name have the names of their own methods. */
	private static boolean areDifferent(List<MergedAnnotation<DistributedLock>> annotations) {
		return annotations.size() > 1 && (annotations.get(0).getString("name").isEmpty()
				|| annotations.stream().map(MergedAnnotation::synthesize).distinct().count() > 1);
	}

	/** Searches also interfaces that a subclass of the method's class has added. */
	private static List<MergedAnnotation<DistributedLock>> findOnMethod(Method method, Method specific,
			Class<?> targetClass) {
		List<MergedAnnotation<DistributedLock>> own = MergedAnnotations.from(specific)
			.stream(DistributedLock.class)
			.toList();
		if (!own.isEmpty()) {
			return own;
		}
		Set<Method> declarations = new LinkedHashSet<>(List.of(specific, method));
		for (Class<?> type : ClassUtils.getAllInterfacesForClassAsSet(targetClass)) {
			ReflectionUtils.doWithLocalMethods(type, (candidate) -> {
				if (candidate.getName().equals(specific.getName())
						&& AopUtils.getMostSpecificMethod(candidate, targetClass).equals(specific)) {
					declarations.add(candidate);
				}
			});
		}
		return NearestAnnotations.of(declarations);
	}

	private static LockConfigurationException severalAnnotations(List<MergedAnnotation<DistributedLock>> annotations,
			Method method, Class<?> targetClass) {
		String described = annotations.stream().map(NearestAnnotations::describe).collect(Collectors.joining(" and "));
		return new LockConfigurationException(LockError.SEVERAL_ANNOTATIONS,
				"The locked method " + targetClass.getName() + "." + method.getName() + " has several annotations"
						+ " that mean a lock: " + described + ". Only one of them would be held",
				"Keep one, or write on the method itself the one that counts. For several locks use one annotation"
						+ " with several keys, or call a locked method of another bean");
	}

	/** Reader of the annotation of one method. */
	private final class Reader {

		private final MergedAnnotation<DistributedLock> annotation;

		private final Method method;

		private final Class<?> targetClass;

		private final String described;

		Reader(MergedAnnotation<DistributedLock> annotation, Method method, Class<?> targetClass) {
			this.annotation = annotation;
			this.method = method;
			this.targetClass = targetClass;
			Class<?> type = Proxy.isProxyClass(targetClass)
					? ClassUtils.getInterfaceMethodIfPossible(method, targetClass).getDeclaringClass() : targetClass;
			this.described = "@DistributedLock on " + type.getName() + "." + method.getName();
		}

		LockAttribute read() {
			DistributedLock values = this.annotation.synthesize();
			LockRequest request = request(values);
			List<String> keys = Stream.of(this.annotation.getStringArray("key"))
				.map((key) -> resolve("key", key, LockError.INVALID_EXPRESSION))
				.toList();
			return LockAttribute.of(name())
				.withKeys(keys)
				.withRequest(request)
				.withOnBusy(values.onBusy())
				.withFallback(text("fallback"))
				.withOnLost(values.onLost())
				.withCondition(text("condition"))
				.withProvider(text("provider"));
		}

		private @Nullable String text(String attribute) {
			String text = resolve(attribute, this.annotation.getString(attribute), LockError.INVALID_EXPRESSION);
			return text.isBlank() ? null : text.trim();
		}

		/** Returns a request for any key; refuses at start what every request would. */
		private LockRequest request(DistributedLock values) {
			Duration lease = duration("lease");
			Duration waitTime = duration("waitTime");
			Duration maxHold = duration("maxHold");
			Duration minHold = duration("minHold");
			try {
				LockRequest request = LockRequest.of(LockKey.of("any"))
					.withLease(lease)
					.withWaitTime(waitTime)
					.withMaxHold(maxHold)
					.withMinHold(minHold);
				LockRequest shared = withMode(request, values.mode(), values.permits());
				return values.renew() ? shared : shared.withoutRenewal();
			}
			catch (LockConfigurationException ex) {
				throw new LockConfigurationException(ex.error(), this.described + ": " + ex.problem(), ex.action());
			}
		}

		private static LockRequest withMode(LockRequest request, LockMode mode, int permits) {
			if (mode == LockMode.SHARED && permits != 0) {
				throw new LockConfigurationException(LockError.INVALID_PERMITS,
						"The mode is SHARED, which has no limit, but the number of permits is " + permits,
						"Leave out permits for readers, or the mode for a semaphore");
			}
			if (mode == LockMode.SHARED) {
				return request.shared();
			}
			return (mode == LockMode.PERMIT || permits != 0) ? request.withPermits(permits) : request;
		}

		private String name() {
			String declared = this.annotation.getString("name");
			if (declared.isEmpty()) {
				Method source = (this.annotation.getSource() instanceof Method annotated
						&& !Modifier.isPrivate(annotated.getModifiers())) ? annotated : this.method;
				DefaultNames names = AnnotationLockAttributeSource.this.names;
				String name = names.of(source, this.annotation.getSource());
				List<String> keys = List.of(this.annotation.getStringArray("key"));
				if (keys.stream().noneMatch((key) -> key.contains("#root.target") || key.contains("@"))) {
					names.requireOneClass(name, this.targetClass,
							keys.isEmpty() && this.annotation.getEnum("onBusy", OnBusy.class) == OnBusy.SKIP);
				}
				return name;
			}
			String name = resolve("name", declared, LockError.INVALID_EXPRESSION);
			if (name.isBlank()) {
				throw new LockConfigurationException(LockError.BLANK_KEY,
						"The name '" + declared + "' of " + this.described + " is blank",
						"Give the lock a name, or leave the attribute out");
			}
			if (EXPRESSION_IN_NAME.matcher(name).find()) {
				throw new LockConfigurationException(LockError.INVALID_EXPRESSION,
						"The name is text, but '" + declared + "' of " + this.described + " looks like an expression",
						"Put what varies into the key, and plain text into the name: name = \"order\", key = \"#id\"");
			}
			return name;
		}

		private @Nullable Duration duration(String attribute) {
			String declared = this.annotation.getString(attribute);
			if (declared.isEmpty()) {
				return null;
			}
			String text = resolve(attribute, declared, LockError.INVALID_DURATION);
			try {
				return DurationText.parse(text);
			}
			catch (IllegalArgumentException ex) {
				throw new LockConfigurationException(LockError.INVALID_DURATION,
						"The " + attribute + " '" + text + "' of " + this.described + " is not a duration",
						"Write a number with a unit, such as \"30s\" or \"500ms\", or ISO-8601 such as \"PT30S\"", ex);
			}
		}

		private String resolve(String attribute, String text, LockError error) {
			try {
				String resolved = AnnotationLockAttributeSource.this.placeholders.resolveStringValue(text);
				return (resolved != null) ? resolved : "";
			}
			catch (LockException ex) {
				throw ex;
			}
			catch (RuntimeException ex) {
				throw new LockConfigurationException(error,
						"The " + attribute + " '" + text + "' of " + this.described + " has an unknown placeholder",
						"Define the property, or give it a default: ${name:default}", ex);
			}
		}

	}

}
