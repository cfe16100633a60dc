package io.distributedlock.annotation;

import java.io.IOException;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.util.Arrays;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.stream.Stream;

import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.core.type.classreading.MetadataReaderFactory;
import org.springframework.core.type.classreading.SimpleMetadataReaderFactory;
import org.springframework.util.ReflectionUtils;

/**
 * Tells whether {@link DistributedLock} is anywhere on a class or the types above it. It
 * is asked of every bean when an application starts, and the answer is mostly no: so it
 * reads each type once, be it of a bean, above one, or of an annotation, and leaves only
 * annotations that bring a lock, or contain others, to Spring. Safe for use by many
 * threads.
 */
final class LockAnnotationPresence {

	/** Whether a type, or one above it, has the annotation; one entry for each type. */
	private final ConcurrentMap<Class<?>, Boolean> types = new ConcurrentHashMap<>();

	/** Whether annotations of a type bring no lock; one entry for each type. */
	private final ConcurrentMap<Class<? extends Annotation>, Boolean> plain = new ConcurrentHashMap<>();

	/**
	 * Looks at a class, its methods, and the types above it.
	 * @param type the class
	 * @return whether one of them has the annotation
	 * @throws IllegalStateException if the methods of a type cannot be read
	 */
	boolean isInHierarchy(Class<?> type) {
		if (!AnnotationUtils.isCandidateClass(type, DistributedLock.class)) {
			return false;
		}
		Boolean known = this.types.get(type);
		if (known == null) {
			known = readIsInHierarchy(type);
			this.types.put(type, known);
		}
		return known;
	}

	private boolean readIsInHierarchy(Class<?> type) {
		return isOn(type) || Stream.of(ReflectionUtils.getDeclaredMethods(type)).anyMatch(this::isOn)
				|| (type.getSuperclass() != null && isInHierarchy(type.getSuperclass()))
				|| Stream.of(type.getInterfaces()).anyMatch(this::isInHierarchy);
	}

	private boolean isOn(AnnotatedElement element) {
		return !hasOnlyPlain(element) && MergedAnnotations.from(element).isPresent(DistributedLock.class);
	}

	private boolean hasOnlyPlain(AnnotatedElement element) {
		try {
			for (Annotation annotation : element.getDeclaredAnnotations()) {
				if (!isPlain(annotation.annotationType())) {
					return false;
				}
			}
			return true;
		}
		catch (RuntimeException | LinkageError ex) {
			// Spring knows which annotations of the others it can read.
			return false;
		}
	}

	private boolean isPlain(Class<? extends Annotation> type) {
		return this.plain.computeIfAbsent(type, LockAnnotationPresence::readIsPlain);
	}

	/** An annotation that may contain others is left to Spring. */
	private static boolean readIsPlain(Class<? extends Annotation> type) {
		if (type == DistributedLock.class || MergedAnnotations.from(type).isPresent(DistributedLock.class)) {
			return false;
		}
		return Stream.of(type.getDeclaredMethods())
			.map((attribute) -> attribute.getReturnType().getComponentType())
			.noneMatch((element) -> element != null && element.isAnnotation());
	}

	/**
	 * Returns whether a type, a type above it or a method of any of them may have the
	 * annotation. Its class file tells, for a type whose methods cannot be read because a
	 * type in a signature is missing, such as that of an optional dependency.
	 */
	static boolean mayBeInHierarchy(Class<?> type) {
		return AnnotationUtils.isCandidateClass(type, DistributedLock.class)
				&& (mayBeAnnotated(type) || (type.getSuperclass() != null && mayBeInHierarchy(type.getSuperclass()))
						|| Arrays.stream(type.getInterfaces()).anyMatch(LockAnnotationPresence::mayBeInHierarchy));
	}

	/** A type without a class file counts as annotated. */
	private static boolean mayBeAnnotated(Class<?> type) {
		MetadataReaderFactory factory = new SimpleMetadataReaderFactory(type.getClassLoader());
		try {
			AnnotationMetadata metadata = factory.getMetadataReader(type.getName()).getAnnotationMetadata();
			String annotation = DistributedLock.class.getName();
			return metadata.isAnnotated(annotation) || metadata.hasAnnotatedMethods(annotation);
		}
		catch (IOException ex) {
			return true;
		}
	}

}
