package io.distributedlock.interceptor.expression;

import java.lang.reflect.Field;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Calendar;
import java.util.Collection;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.TimeZone;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeanUtils;
import org.springframework.core.NativeDetector;
import org.springframework.util.ClassUtils;

/**
 * Class of values of keys, and what it says about their texts. Read once for each class.
 *
 * @param problem the problem that each text of the class has, or {@code null} if the
 * class shows none
 * @param simple whether the text of each value is the same in every process
 * @param components the components of a record whose text the compiler wrote, or
 * {@code null} for other classes
 */
record KeyType(@Nullable KeyProblem problem, boolean simple, @Nullable List<Field> components) {

	/** The problems of types that exclude each other. */
	private static final Map<Class<?>, KeyProblem> PROBLEMS = Map.of(Date.class,
			new KeyProblem("has a text that depends on the time zone of the process",
					"Use its instant: #date.time, or a type of java.time"),
			Calendar.class,
			new KeyProblem("has a text that depends on the state of the calendar and of the process",
					"Use its instant: #calendar.timeInMillis, or a type of java.time"),
			TimeZone.class,
			new KeyProblem("has a text that depends on the time zone data of the process",
					"Use its id: #zone.ID, or a java.time.ZoneId"),
			InetAddress.class,
			new KeyProblem("has a text that depends on whether the name of the host was resolved",
					"Use its address: #address.hostAddress"),
			InetSocketAddress.class,
			new KeyProblem("has a text that depends on whether the name of the host was resolved",
					"Use its parts: { \"#address.hostString\", \"#address.port\" }"),
			Map.class,
			new KeyProblem("is a map: its text depends on its order and on the texts in it",
					"Use an id, or a value of one entry of the map"),
			Map.Entry.class, new KeyProblem("is an entry of a map: its text depends on the texts in it",
					"Use its key and value: { \"#entry.key\", \"#entry.value\" }"));

	private static final ClassValue<KeyType> TYPES = new ClassValue<>() {
		@Override
		protected KeyType computeValue(Class<?> type) {
			KeyProblem problem = problemOf(type);
			return new KeyType(problem, problem == null && BeanUtils.isSimpleValueType(type),
					isPlainRecord(type) ? componentsOf(type) : null);
		}
	};

	static KeyType of(Class<?> type) {
		return TYPES.get(type);
	}

	private static @Nullable KeyProblem problemOf(Class<?> type) {
		if (UnfinishedResults.isDeferred(type)) {
			return new KeyProblem("is computed later, so that its text is not that of its value",
					"Get the value before the call, and lock an id of it, such as #order.id");
		}
		if (!hasText(type)) {
			return new KeyProblem("has no text of its own", "Use an id of it, such as #order.id");
		}
		if (Iterable.class.isAssignableFrom(type) && !Collection.class.isAssignableFrom(type)
				&& !Path.class.isAssignableFrom(type)) {
			return new KeyProblem("is an Iterable, whose text need not tell its elements",
					"Use an id of it, or its content, such as #page.content or #node.asString()");
		}
		if (type.getPackageName().equals("java.util.concurrent.atomic")) {
			return new KeyProblem("is a variable: its text changes with its value", "Use its value: #reference.get()");
		}
		return PROBLEMS.entrySet()
			.stream()
			.filter((entry) -> entry.getKey().isAssignableFrom(type))
			.map(Map.Entry::getValue)
			.findFirst()
			.orElse(null);
	}

	/** A native image may not know the method; the text shows an identity then. */
	private static boolean hasText(Class<?> type) {
		Method method = ClassUtils.getMethodIfAvailable(type, "toString", new Class<?>[0]);
		return (method != null) ? method.getDeclaringClass() != Object.class : NativeDetector.inNativeImage();
	}

	/**
	 * Recognizes the {@code toString()} of the compiler: a written one is rarely final.
	 */
	private static boolean isPlainRecord(Class<?> type) {
		Method method = ClassUtils.getMethodIfAvailable(type, "toString", new Class<?>[0]);
		return type.isRecord() && method != null && Modifier.isFinal(method.getModifiers());
	}

	/**
	 * Returns the fields, which that {@code toString()} reads, or {@code null} where a
	 * module does not open them.
	 */
	private static @Nullable List<Field> componentsOf(Class<?> type) {
		List<Field> fields = new ArrayList<>();
		try {
			for (RecordComponent component : type.getRecordComponents()) {
				Field field = type.getDeclaredField(component.getName());
				field.setAccessible(true);
				fields.add(field);
			}
		}
		catch (NoSuchFieldException | InaccessibleObjectException ex) {
			return null;
		}
		return List.copyOf(fields);
	}

}
