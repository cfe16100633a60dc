package io.distributedlock.interceptor;

import java.lang.reflect.Array;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.EnumSet;
import java.util.Enumeration;
import java.util.Iterator;
import java.util.ListIterator;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Future;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.core.CollectionFactory;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

/**
 * Empty values of types. Collections, maps and futures are made anew each time, because
 * their receiver may change them.
 */
final class EmptyResults {

	private static final Map<Class<?>, Supplier<Object>> BY_TYPE = Map.ofEntries(
			Map.entry(Optional.class, Optional::empty), Map.entry(OptionalInt.class, OptionalInt::empty),
			Map.entry(OptionalLong.class, OptionalLong::empty), Map.entry(OptionalDouble.class, OptionalDouble::empty),
			Map.entry(Iterable.class, Collections::emptyList), Map.entry(Iterator.class, Collections::emptyIterator),
			Map.entry(ListIterator.class, Collections::emptyListIterator),
			Map.entry(Enumeration.class, Collections::emptyEnumeration), Map.entry(Queue.class, ArrayDeque::new),
			Map.entry(Deque.class, ArrayDeque::new), Map.entry(ConcurrentMap.class, ConcurrentHashMap::new));

	private EmptyResults() {
	}

	/**
	 * Finds the empty value of a type.
	 * @param declared the type
	 * @return its supplier, or {@code null} if the type has none or is not known
	 */
	static @Nullable Supplier<Object> of(ResolvableType declared) {
		Class<?> type = declared.resolve();
		if (type == null) {
			return null;
		}
		if (type.isArray()) {
			Object array = Array.newInstance(type.getComponentType(), 0);
			return () -> array;
		}
		if (type == CompletableFuture.class || type == CompletionStage.class || type == Future.class) {
			Supplier<Object> value = of(declared.getGeneric(0));
			return () -> CompletableFuture.completedFuture((value != null) ? value.get() : null);
		}
		Supplier<Object> known = BY_TYPE.get(type);
		return (known != null) ? known : ofContainer(declared, type);
	}

	private static @Nullable Supplier<Object> ofContainer(ResolvableType declared, Class<?> type) {
		Class<?> element = declared.getGeneric(0).resolve();
		if (Collection.class.isAssignableFrom(type)) {
			return ifPossible(type, () -> CollectionFactory.createCollection(type, element, 0));
		}
		if (Map.class.isAssignableFrom(type)) {
			return ifPossible(type, () -> CollectionFactory.createMap(type, element, 0));
		}
		return null;
	}

	private static @Nullable Supplier<Object> ifPossible(Class<?> type, Supplier<Object> created) {
		if (!type.isInterface() && !EnumSet.class.isAssignableFrom(type) && !ClassUtils.hasConstructor(type)
				&& !type.getName().equals("java.util.EnumMap")) {
			return null;
		}
		try {
			return (created.get() != null) ? created : null;
		}
		catch (IllegalArgumentException ex) {
			return null;
		}
	}

}
