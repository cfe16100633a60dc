package io.distributedlock.interceptor;

import java.lang.reflect.Method;
import java.time.DayOfWeek;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.Set;
import java.util.SortedSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentMap;

import kotlin.text.MatchResult;
import kotlin.time.TimeSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.util.MultiValueMap;
import org.springframework.util.ReflectionUtils;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.OnBusy;
import io.distributedlock.OnLost;
import io.distributedlock.annotation.DistributedLock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class SkippedCallTests {

	private final LockedProxies proxies = new LockedProxies(new RecordingLockOperations().busy());

	private final Results results = this.proxies.ofInterface(Results.class, new SkippedResults());

	private final SkippedResults ofClass = this.proxies.ofClass(new SkippedResults());

	@Test
	void resultIsNullWhereNoValueIsEmpty() {
		this.results.nothing();
		assertThat(this.results.object()).isNull();
		assertThat(this.results.text()).isNull();
		assertThat(this.results.boxed()).isNull();
		assertThat(this.results.variable(List.of("x"))).isNull();
		assertThat(this.results.withoutConstructor()).isNull();
	}

	@Test
	void optionalsAreEmpty() {
		assertThat(this.results.optional()).isEmpty();
		assertThat(this.results.optionalInt()).isEmpty();
		assertThat(this.results.optionalLong()).isEmpty();
		assertThat(this.results.optionalDouble()).isEmpty();
	}

	@Test
	void arraysAreEmpty() {
		assertThat(this.results.texts()).isEmpty();
		assertThat(this.results.numbers()).isEmpty();
		assertThat(this.results.matrix()).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "iterable", "collection", "list", "set", "sortedSet", "queue", "deque", "arrayList",
			"linkedHashSet", "enumSet" })
	void collectionsAreEmpty(String name) {
		assertThat((Iterable<?>) call(this.results, Results.class, name)).isEmpty();
		assertThat((Iterable<?>) call(this.ofClass, SkippedResults.class, name)).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "map", "navigableMap", "concurrentMap", "hashMap", "enumMap", "multiValueMap" })
	void mapsAreEmpty(String name) {
		assertThat((Map<?, ?>) call(this.results, Results.class, name)).isEmpty();
		assertThat((Map<?, ?>) call(this.ofClass, SkippedResults.class, name)).isEmpty();
	}

	@Test
	void iteratorIsEmpty() {
		assertThat(this.results.iterator()).isExhausted();
	}

	@Test
	void collectionsAreNewEachTime() {
		this.results.list().add("mine");
		assertThat(this.results.list()).isEmpty();
	}

	@Test
	void futuresAreCompleteWithTheEmptyValueOfTheirType() {
		assertThat(this.results.futureOfText()).isCompletedWithValue(null);
		assertThat(this.results.futureOfOptional()).isCompletedWithValue(Optional.empty());
		assertThat(this.results.stageOfList().toCompletableFuture()).isCompletedWithValue(List.of());
		assertThat(this.results.futureOfOptional()).isNotSameAs(this.results.futureOfOptional());
		assertThat(this.ofClass.futureOfOptional()).isCompletedWithValue(Optional.empty());
	}

	@Test
	void publishersAreEmpty() {
		assertThat(this.results.mono().blockOptional()).isEmpty();
		assertThat(this.results.flux().collectList().block()).isEmpty();
		assertThat(Flux.from(this.results.publisher()).collectList().block()).isEmpty();
	}

	@Test
	void typeVariablesOfTheClassAreResolved() {
		assertThat(this.proxies.ofClass(new OfLists()).run()).isEmpty();
	}

	@Test
	void nonNullResultOfKotlinIsRefused() {
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> registryOf(TimeSource.class, "markNow").isLocked(TimeSource.class))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NO_EMPTY_RESULT))
			.withMessageContaining("TimeSource.markNow()")
			.withMessageContaining("kotlin.time.TimeMark is not nullable in Kotlin");
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> registryOf(MatchResult.class, "getValue").isLocked(MatchResult.class))
			.withMessageContaining("MatchResult.getValue()");
	}

	@ParameterizedTest
	@ValueSource(strings = { "next", "getGroupValues" })
	void nullableAndEmptyResultsOfKotlinAreAccepted(String method) {
		assertThat(registryOf(MatchResult.class, method).isLocked(MatchResult.class)).isTrue();
	}

	private static @Nullable Object call(Object target, Class<?> type, String name) {
		Method method = ReflectionUtils.findMethod(type, name);
		assertThat(method).isNotNull();
		ReflectionUtils.makeAccessible(method);
		return ReflectionUtils.invokeMethod(method, target);
	}

	private static LockedMethodRegistry registryOf(Class<?> type, String name) {
		LockAttribute attribute = LockAttribute.of("kotlin").withOnBusy(OnBusy.SKIP);
		return new LockedMethodRegistry(new LockAttributeSource() {

			@Override
			public @Nullable LockAttribute getLockAttribute(Method method, Class<?> targetClass) {
				return isDeclaredOnMethod(method, targetClass) ? attribute : null;
			}

			@Override
			public boolean isDeclaredOnMethod(Method method, Class<?> targetClass) {
				return type.equals(method.getDeclaringClass()) && method.getName().equals(name);
			}

		}, new DefaultListableBeanFactory());
	}

	abstract static class Generic<T> {

		@DistributedLock(name = "generic", onBusy = OnBusy.SKIP)
		@Nullable T run() {
			throw new AssertionError("The body ran");
		}

	}

	static class OfLists extends Generic<List<String>> {

	}

	static final class WithoutConstructor extends ArrayList<String> {

		private static final long serialVersionUID = 1L;

		WithoutConstructor(String element) {
			add(element);
		}

	}

	@DistributedLock(name = "results", onBusy = OnBusy.SKIP)
	interface Results {

		default void nothing() {
			fail();
		}

		default @Nullable Object object() {
			return fail();
		}

		default @Nullable String text() {
			return fail();
		}

		default @Nullable Integer boxed() {
			return fail();
		}

		default <T extends List<String>> @Nullable T variable(T value) {
			return fail();
		}

		default @Nullable WithoutConstructor withoutConstructor() {
			return fail();
		}

		default Optional<String> optional() {
			return fail();
		}

		default OptionalInt optionalInt() {
			return fail();
		}

		default OptionalLong optionalLong() {
			return fail();
		}

		default OptionalDouble optionalDouble() {
			return fail();
		}

		default String[] texts() {
			return fail();
		}

		default long[] numbers() {
			return fail();
		}

		default int[][] matrix() {
			return fail();
		}

		default Iterable<String> iterable() {
			return fail();
		}

		default Iterator<String> iterator() {
			return fail();
		}

		default Collection<String> collection() {
			return fail();
		}

		default List<String> list() {
			return fail();
		}

		default Set<String> set() {
			return fail();
		}

		default SortedSet<String> sortedSet() {
			return fail();
		}

		default Queue<String> queue() {
			return fail();
		}

		default Deque<String> deque() {
			return fail();
		}

		default @Nullable BlockingQueue<String> blockingQueue() {
			return fail();
		}

		default ArrayList<String> arrayList() {
			return fail();
		}

		default LinkedHashSet<String> linkedHashSet() {
			return fail();
		}

		default EnumSet<DayOfWeek> enumSet() {
			return fail();
		}

		default Map<String, String> map() {
			return fail();
		}

		default NavigableMap<String, String> navigableMap() {
			return fail();
		}

		default ConcurrentMap<String, String> concurrentMap() {
			return fail();
		}

		default HashMap<String, String> hashMap() {
			return fail();
		}

		default EnumMap<DayOfWeek, String> enumMap() {
			return fail();
		}

		default MultiValueMap<String, String> multiValueMap() {
			return fail();
		}

		default CompletableFuture<String> futureOfText() {
			return fail();
		}

		default CompletableFuture<Optional<String>> futureOfOptional() {
			return fail();
		}

		default CompletionStage<List<String>> stageOfList() {
			return fail();
		}

		default Mono<String> mono() {
			return fail();
		}

		default Flux<String> flux() {
			return fail();
		}

		default Publisher<String> publisher() {
			return fail();
		}

		private static <T> T fail() {
			throw new AssertionError("The body ran");
		}

	}

	static class SkippedResults implements Results {

	}

}
