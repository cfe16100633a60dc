package io.distributedlock.annotation;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

import org.springframework.core.BridgeMethodResolver;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

/**
 * The annotations of declarations that mean a lock, and of those above them, without the
 * ones that a nearer one replaces: an annotation is nearer than another if its type
 * extends or implements the type of the other. More than one is a mistake, because Spring
 * would choose by the order in which they are written.
 */
final class NearestAnnotations {

	private NearestAnnotations() {
	}

	static List<MergedAnnotation<DistributedLock>> of(Collection<? extends AnnotatedElement> declarations) {
		Set<AnnotatedElement> sources = new LinkedHashSet<>();
		for (AnnotatedElement declaration : declarations) {
			MergedAnnotations.from(declaration, SearchStrategy.TYPE_HIERARCHY)
				.stream(DistributedLock.class)
				.forEach((annotation) -> sources.add(sourceOf(annotation)));
		}
		return sources.stream()
			.filter((source) -> sources.stream().noneMatch((other) -> isAbove(typeOf(source), typeOf(other))))
			.flatMap((source) -> MergedAnnotations.from(source).stream(DistributedLock.class))
			.toList();
	}

	/** The compiler copies annotations to the bridges of a method. */
	private static AnnotatedElement sourceOf(MergedAnnotation<?> annotation) {
		AnnotatedElement source = (AnnotatedElement) Objects.requireNonNull(annotation.getSource());
		return (source instanceof Method method) ? BridgeMethodResolver.findBridgedMethod(method) : source;
	}

	private static Class<?> typeOf(AnnotatedElement source) {
		return (source instanceof Method method) ? method.getDeclaringClass() : (Class<?>) source;
	}

	private static boolean isAbove(Class<?> type, Class<?> other) {
		return type != other && type.isAssignableFrom(other);
	}

	/** Names the annotations from the one that is written on, and where that is. */
	static String describe(MergedAnnotation<DistributedLock> annotation) {
		AnnotatedElement source = sourceOf(annotation);
		String names = annotation.getMetaTypes()
			.stream()
			.filter((type) -> type != DistributedLock.class || annotation.getDistance() == 0)
			.map((type) -> "@" + type.getSimpleName())
			.collect(Collectors.joining(" "));
		return names + " of " + typeOf(source).getSimpleName()
				+ ((source instanceof Method method) ? "." + method.getName() : "");
	}

}
