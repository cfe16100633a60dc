package io.distributedlock.annotation;

import java.io.IOException;
import java.util.Arrays;

import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.core.type.classreading.MetadataReaderFactory;
import org.springframework.core.type.classreading.SimpleMetadataReaderFactory;

/**
 * Types whose methods cannot be read, because a type in a signature is missing, such as
 * that of an optional dependency. Their class files tell whether they are annotated.
 */
final class UnreadableTypes {

	private UnreadableTypes() {
	}

	/**
	 * Returns whether a type, a type above it or a method of any of them may have the
	 * annotation.
	 */
	static boolean mayBeLocked(Class<?> type) {
		return AnnotationUtils.isCandidateClass(type, DistributedLock.class)
				&& (mayBeAnnotated(type) || (type.getSuperclass() != null && mayBeLocked(type.getSuperclass()))
						|| Arrays.stream(type.getInterfaces()).anyMatch(UnreadableTypes::mayBeLocked));
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
