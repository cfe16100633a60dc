package io.distributedlock.annotation;

import java.io.IOException;
import java.util.LinkedHashSet;
import java.util.Set;

import org.springframework.core.type.AnnotationMetadata;
import org.springframework.core.type.classreading.MetadataReaderFactory;
import org.springframework.core.type.classreading.SimpleMetadataReaderFactory;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Types whose methods cannot be read, because a type in a signature is missing, such as
 * that of an optional dependency. Their class files tell whether they are annotated.
 */
final class UnreadableTypes {

	private UnreadableTypes() {
	}

	/**
	 * Returns whether the methods of a class cannot be read, and neither it nor a type
	 * above it has the annotation.
	 */
	static boolean isUnreadableWithoutLocks(Class<?> type) {
		if (isReadable(type)) {
			return false;
		}
		Set<Class<?>> types = new LinkedHashSet<>(ClassUtils.getAllInterfacesForClassAsSet(type));
		for (Class<?> above = type; above != null; above = above.getSuperclass()) {
			types.add(above);
		}
		return types.stream().noneMatch(UnreadableTypes::mayBeAnnotated);
	}

	private static boolean isReadable(Class<?> type) {
		try {
			ReflectionUtils.getAllDeclaredMethods(type);
			return true;
		}
		catch (IllegalStateException ex) {
			return !(ex.getCause() instanceof NoClassDefFoundError);
		}
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
