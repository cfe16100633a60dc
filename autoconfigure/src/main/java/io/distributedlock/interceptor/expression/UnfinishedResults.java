package io.distributedlock.interceptor.expression;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collection;
import java.util.ConcurrentModificationException;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.stream.BaseStream;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.util.ReflectionUtils;

/**
 * Results whose work continues after the method has returned, recognized also inside an
 * {@code Optional}, an HTTP entity, and the collections, maps and arrays of the JDK.
 * Types of libraries are recognized by name, so that none of them needs to be present.
 */
public final class UnfinishedResults {

	public static final String HTTP_ENTITY = "org.springframework.http.HttpEntity";

	private static final Set<String> LATER = Set.of("org.reactivestreams.Publisher",
			"java.util.concurrent.Flow$Publisher", "kotlinx.coroutines.flow.Flow", "kotlinx.coroutines.Job",
			"kotlinx.coroutines.channels.ReceiveChannel", "kotlin.sequences.Sequence",
			"org.springframework.web.context.request.async.DeferredResult",
			"org.springframework.web.context.request.async.WebAsyncTask",
			"org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
			"org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody");

	/** Number of nested containers that are searched. */
	private static final int DEPTH = 3;

	/** Number of elements of a container that are checked. */
	private static final int ELEMENTS = 16;

	private static final ClassValue<Kind> KINDS = new ClassValue<>() {
		@Override
		protected Kind computeValue(Class<?> type) {
			return kindOf(type);
		}
	};

	private UnfinishedResults() {
	}

	/**
	 * Finds a type that may be unfinished when a method returns.
	 * @param declared the declared type of the result
	 * @return the type, or {@code null} if the declaration names none
	 */
	public static @Nullable Class<?> findType(ResolvableType declared) {
		return findType(declared, DEPTH);
	}

	private static @Nullable Class<?> findType(ResolvableType declared, int depth) {
		Class<?> type = declared.resolve();
		if (type == null || depth < 0) {
			return null;
		}
		if (isDeferred(type)) {
			return type;
		}
		if (KINDS.get(type) == Kind.COMPLETE) {
			return null;
		}
		ResolvableType[] elements = declared.isArray() ? new ResolvableType[] { declared.getComponentType() }
				: declared.getGenerics();
		for (ResolvableType element : elements) {
			Class<?> unfinished = findType(element, depth - 1);
			if (unfinished != null) {
				return unfinished;
			}
		}
		return null;
	}

	/** Returns whether values of the type stand for others that are computed later. */
	public static boolean isDeferred(Class<?> type) {
		Kind kind = KINDS.get(type);
		return kind == Kind.LATER || kind == Kind.FUTURE;
	}

	/**
	 * Finds a value that is not finished yet.
	 * @param result the result of a method
	 * @return the type of the unfinished value, or {@code null} if there is none
	 */
	public static @Nullable Class<?> find(@Nullable Object result) {
		return find(result, DEPTH);
	}

	private static @Nullable Class<?> find(@Nullable Object value, int depth) {
		if (value == null || depth < 0) {
			return null;
		}
		return switch (KINDS.get(value.getClass())) {
			case COMPLETE -> null;
			case LATER -> value.getClass();
			case FUTURE -> isDone(value) ? null : value.getClass();
			case OPTIONAL -> find(((Optional<?>) value).orElse(null), depth - 1);
			case HTTP_ENTITY -> find(bodyOf(value), depth - 1);
			case COLLECTION -> findAny(((Collection<?>) value).iterator(), depth - 1);
			case MAP -> findAny(((Map<?, ?>) value).values().iterator(), depth - 1);
			case ARRAY -> findAny(Arrays.asList((Object[]) value).iterator(), depth - 1);
		};
	}

	/** Checks the first values, until another thread changes their container. */
	private static @Nullable Class<?> findAny(Iterator<?> values, int depth) {
		try {
			for (int i = 0; i < ELEMENTS && values.hasNext(); i++) {
				Class<?> unfinished = find(values.next(), depth);
				if (unfinished != null) {
					return unfinished;
				}
			}
		}
		catch (ConcurrentModificationException | NoSuchElementException ex) {
			return null;
		}
		return null;
	}

	private static boolean isDone(Object value) {
		try {
			return (value instanceof CompletionStage<?> stage) ? stage.toCompletableFuture().isDone()
					: ((Future<?>) value).isDone();
		}
		catch (UnsupportedOperationException ex) {
			return false;
		}
	}

	private static @Nullable Object bodyOf(Object entity) {
		Method method = ReflectionUtils.findMethod(entity.getClass(), "getBody");
		if (method == null) {
			return null;
		}
		ReflectionUtils.makeAccessible(method);
		return ReflectionUtils.invokeMethod(method, entity);
	}

	private static Kind kindOf(Class<?> type) {
		if (Future.class.isAssignableFrom(type) || CompletionStage.class.isAssignableFrom(type)) {
			return Kind.FUTURE;
		}
		if (Callable.class.isAssignableFrom(type) || BaseStream.class.isAssignableFrom(type) || isNamed(type, LATER)
				|| isReactive(type)) {
			return Kind.LATER;
		}
		if (type == Optional.class) {
			return Kind.OPTIONAL;
		}
		if (isNamed(type, Set.of(HTTP_ENTITY))) {
			return Kind.HTTP_ENTITY;
		}
		if (isOwnContainer(type)) {
			return Map.class.isAssignableFrom(type) ? Kind.MAP : Kind.COLLECTION;
		}
		return Object[].class.isAssignableFrom(type) ? Kind.ARRAY : Kind.COMPLETE;
	}

	private static boolean isReactive(Class<?> type) {
		return type != Object.class && ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null;
	}

	/** Excludes containers that may load their elements when they are read, and views. */
	private static boolean isOwnContainer(Class<?> type) {
		return type.getName().startsWith("java.util.") && !type.getName().startsWith("java.util.Collections$")
				&& (Map.class.isAssignableFrom(type) || Collection.class.isAssignableFrom(type));
	}

	private static boolean isNamed(Class<?> type, Set<String> names) {
		for (Class<?> current = type; current != null; current = current.getSuperclass()) {
			if (names.contains(current.getName())
					|| Stream.of(current.getInterfaces()).anyMatch((candidate) -> isNamed(candidate, names))) {
				return true;
			}
		}
		return false;
	}

	private enum Kind {

		/** Finished, as far as its type shows. */
		COMPLETE,
		/** Unfinished by its nature. */
		LATER,
		/** Unfinished until it is done. */
		FUTURE,
		/** Containers, whose values decide. */
		OPTIONAL, HTTP_ENTITY, COLLECTION, MAP, ARRAY

	}

}
