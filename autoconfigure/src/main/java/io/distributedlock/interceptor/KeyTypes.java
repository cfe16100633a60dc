package io.distributedlock.interceptor;

import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.util.Calendar;
import java.util.Collection;
import java.util.Date;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TimeZone;

import org.jspecify.annotations.Nullable;

import org.springframework.core.ResolvableType;

/**
 * Classes whose text differs from process to process: by identity, by the time zone of
 * the process, or by the order of a hash table.
 */
final class KeyTypes {

	private static final ClassValue<Optional<Problem>> PROBLEMS = new ClassValue<>() {
		@Override
		protected Optional<Problem> computeValue(Class<?> type) {
			return Optional.ofNullable(hasText(type) ? problemOf(ResolvableType.forClass(type), new HashSet<>())
					: new Problem("has no text of its own", "Use an id of it, such as #order.id"));
		}
	};

	private KeyTypes() {
	}

	/**
	 * Finds what makes the text of a class unfit for a key.
	 * @param type the class of a key's value
	 * @return the problem, or {@code null} if the class shows none
	 */
	static @Nullable Problem findProblem(Class<?> type) {
		return PROBLEMS.get(type).orElse(null);
	}

	private static boolean hasText(Class<?> type) {
		try {
			return type.getMethod("toString").getDeclaringClass() != Object.class;
		}
		catch (NoSuchMethodException ex) {
			return false;
		}
	}

	private static @Nullable Problem problemOf(ResolvableType resolvable, Set<Class<?>> seen) {
		Class<?> type = resolvable.resolve(Object.class);
		if (!seen.add(type)) {
			return null;
		}
		if (Date.class.isAssignableFrom(type)) {
			return new Problem("has a text that depends on the time zone of the process",
					"Use its instant: #date.time, or a type of java.time");
		}
		if (Calendar.class.isAssignableFrom(type)) {
			return new Problem("has a text that depends on the state of the calendar and of the process",
					"Use its instant: #calendar.timeInMillis, or a type of java.time");
		}
		if (TimeZone.class.isAssignableFrom(type)) {
			return new Problem("has a text that depends on the time zone data of the process",
					"Use its id: #zone.ID, or a java.time.ZoneId");
		}
		if (Map.class.isAssignableFrom(type)) {
			return new Problem("has a text whose order may differ", "Use an id, or one entry of the map");
		}
		return isPlainRecord(type) ? problemOfRecord(type, seen) : null;
	}

	/**
	 * Recognizes the {@code toString()} of the compiler: a written one is rarely final.
	 */
	private static boolean isPlainRecord(Class<?> type) {
		try {
			return type.isRecord() && Modifier.isFinal(type.getMethod("toString").getModifiers());
		}
		catch (NoSuchMethodException ex) {
			return false;
		}
	}

	private static @Nullable Problem problemOfRecord(Class<?> type, Set<Class<?>> seen) {
		for (RecordComponent component : type.getRecordComponents()) {
			Problem problem = problemOfComponent(ResolvableType.forType(component.getGenericType()), seen);
			if (problem != null) {
				return new Problem(
						"has the component '" + component.getName() + "', a " + component.getType().getSimpleName()
								+ ", which " + problem.fact(),
						"Use the components that tell one lock from another, such as #order.id, or give the record a"
								+ " toString() of its own");
			}
		}
		return null;
	}

	private static @Nullable Problem problemOfComponent(ResolvableType component, Set<Class<?>> seen) {
		Class<?> type = component.resolve(Object.class);
		if (type.isArray()) {
			return new Problem("has no text of its own", "");
		}
		if (Collection.class.isAssignableFrom(type) && !List.class.isAssignableFrom(type)) {
			return new Problem("has a text whose order may differ", "");
		}
		return List.class.isAssignableFrom(type) ? problemOfComponent(component.as(Collection.class).getGeneric(), seen)
				: problemOf(component, seen);
	}

	/**
	 * Problem that makes the text of a class unfit for a key.
	 *
	 * @param fact the fact, as a clause about the class
	 * @param remedy the value to use instead
	 */
	record Problem(String fact, String remedy) {

	}

}
