package io.distributedlock.interceptor.expression;

import java.lang.reflect.Field;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import org.springframework.core.NativeDetector;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Check that the text of a value is the same in every process. Values are judged by their
 * own classes, not by declared ones, down to the components of records.
 */
final class KeyValueCheck {

	/** The most values in one another; deeper ones may contain themselves. */
	private static final int MAX_DEPTH = 16;

	/**
	 * What may be the default text of an object or array: its class and its identity. Its
	 * quantifiers are possessive and it starts only at the start of a word: a long text
	 * must cost neither stack nor quadratic time.
	 */
	private static final Pattern IDENTITY = Pattern
		.compile("(?<![\\w$.])(?:\\[++(?:[BCDFIJSZ]|L[\\w.$]++;)|([\\w$]++(?:\\.[\\w$]++)++)(?:/0x[0-9a-f]++)?)"
				+ "@[0-9a-f]{1,8}(?![\\w.@-])");

	private KeyValueCheck() {
	}

	/**
	 * Finds what makes the text of a value unfit for a key.
	 * @param value the value
	 * @return the problem, or {@code null} if the text is fit
	 */
	static @Nullable KeyProblem findProblem(Object value) {
		return find(value, MAX_DEPTH);
	}

	private static @Nullable KeyProblem find(Object value, int depth) {
		KeyType type = KeyType.of(value.getClass());
		if (type.problem() != null || type.simple()) {
			return type.problem();
		}
		if (depth == 0) {
			return new KeyProblem("contains more than " + MAX_DEPTH + " values in one another",
					"Use an id of it, such as #order.id");
		}
		if (type.components() != null) {
			return findInRecord(value, type.components(), depth);
		}
		if (value instanceof Optional<?> optional) {
			return optional.isPresent() ? findIn(List.of(optional.get()), depth) : null;
		}
		if (value instanceof Collection<?> collection) {
			return isOrdered(collection) ? findIn(collection, depth)
					: new KeyProblem("has a text whose order may differ", "Use its elements, or a list");
		}
		return hasIdentity(value) ? new KeyProblem("has the text '" + value + "' with the identity of an object in it",
				"Use an id of it, such as #order.id") : null;
	}

	private static boolean isOrdered(Collection<?> collection) {
		return collection instanceof List || collection instanceof SortedSet;
	}

	private static boolean hasIdentity(Object value) {
		String text = value.toString();
		return text != null && IDENTITY.matcher(text)
			.results()
			.anyMatch((found) -> found.group(1) == null || isClass(found.group(1), value.getClass()));
	}

	/**
	 * Tells a class from other words with dots, such as {@code john.doe} of a mail
	 * address. Generated classes have no file, but a {@code $} in their names. The class
	 * is not loaded: class loaders keep each name that they were asked for.
	 */
	private static boolean isClass(String name, Class<?> neighbour) {
		ClassLoader own = neighbour.getClassLoader();
		ClassLoader loader = (own != null) ? own : ClassUtils.getDefaultClassLoader();
		return name.indexOf('$') >= 0 || NativeDetector.inNativeImage() || loader == null
				|| loader.getResource(name.replace('.', '/') + ".class") != null;
	}

	private static @Nullable KeyProblem findIn(Collection<?> values, int depth) {
		for (Object value : values) {
			KeyProblem problem = findInPart("contains", value, depth);
			if (problem != null) {
				return problem;
			}
		}
		return null;
	}

	private static @Nullable KeyProblem findInRecord(Object value, List<Field> components, int depth) {
		for (Field component : components) {
			KeyProblem problem = findInPart("has the component '" + component.getName() + "',",
					ReflectionUtils.getField(component, value), depth);
			if (problem != null) {
				return new KeyProblem(problem.fact(),
						"Use the components that tell one lock from another, such as #order.id, or give the record a"
								+ " toString() of its own");
			}
		}
		return null;
	}

	private static @Nullable KeyProblem findInPart(String has, @Nullable Object part, int depth) {
		KeyProblem problem = (part != null) ? find(part, depth - 1) : null;
		if (part == null || problem == null) {
			return null;
		}
		return new KeyProblem(has + " a " + ClassUtils.getShortName(part.getClass()) + ", which " + problem.fact(),
				problem.remedy());
	}

}
