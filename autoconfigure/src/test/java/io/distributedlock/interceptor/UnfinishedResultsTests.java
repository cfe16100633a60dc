package io.distributedlock.interceptor;

import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import kotlin.sequences.SequencesKt;
import kotlinx.coroutines.CompletableDeferredKt;
import kotlinx.coroutines.Deferred;
import kotlinx.coroutines.JobKt;
import kotlinx.coroutines.channels.BufferOverflow;
import kotlinx.coroutines.channels.ChannelKt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Mono;

import org.springframework.core.ResolvableType;
import org.springframework.http.ResponseEntity;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.WebAsyncTask;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockContext;
import io.distributedlock.LockError;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.interceptor.expression.UnfinishedResults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class UnfinishedResultsTests {

	private final Controller controller = new LockedProxies(new RecordingLockOperations()).ofClass(new Controller());

	@ParameterizedTest
	@MethodSource("unfinished")
	void unfinishedValueBehindObjectIsRefused(Object value) {
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> this.controller.handle(value))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.UNSUPPORTED_RESULT))
			.withMessageContaining("Controller.handle(Object)")
			.withMessageContaining("not finished");
		assertThat(LockContext.find()).isEmpty();
	}

	static Stream<Object> unfinished() {
		CompletableFuture<String> future = new CompletableFuture<>();
		return Stream.of(future, future.minimalCompletionStage(), new FutureTask<>(() -> "x"), Mono.just("x"),
				Stream.of("x"), IntStream.of(1), (Callable<String>) () -> "x", new DeferredResult<>(),
				new WebAsyncTask<>(() -> "x"), (StreamingResponseBody) (output) -> {
				}, new ResponseBodyEmitter(), new SseEmitter(), ResponseEntity.ok(future), Optional.of(future),
				Map.of("k", future), List.of("x", future), new Object[] { future },
				ResponseEntity.ok(Optional.of(List.of(future))), CompletableDeferredKt.CompletableDeferred(null),
				JobKt.Job(null), SequencesKt.sequenceOf("x"), ChannelKt.Channel(0, BufferOverflow.SUSPEND, null));
	}

	@ParameterizedTest
	@MethodSource("finished")
	void finishedValueIsReturned(Object value) {
		assertThat(this.controller.handle(value)).isSameAs(value);
	}

	@Test
	void containerThatChangesMeanwhileIsReturned() {
		List<Object> changing = new ArrayList<>();
		changing.add(new CompletableFuture<>() {

			@Override
			public boolean isDone() {
				changing.clear();
				return true;
			}

		});
		assertThat(this.controller.handle(changing)).isSameAs(changing);
		assertThat(changing).isEmpty();
	}

	static Stream<Object> finished() {
		CompletableFuture<String> done = CompletableFuture.completedFuture("x");
		return Stream.of("x", done, done.minimalCompletionStage(),
				CompletableFuture.failedFuture(new IllegalStateException()), ResponseEntity.ok("x"), Optional.of(done),
				Optional.empty(), Arrays.asList("x", null), Map.of("k", done), new int[] { 1 }, new Object[] { "x" });
	}

	@Test
	void viewOfACollectionIsNotOpened() {
		List<Object> loading = new AbstractList<>() {
			@Override
			public Object get(int index) {
				throw new IllegalStateException("Not to be loaded");
			}

			@Override
			public int size() {
				throw new IllegalStateException("Not to be loaded");
			}
		};
		assertThat(this.controller.handle(Collections.unmodifiableList(loading)) != null).isTrue();
	}

	@ParameterizedTest
	@MethodSource("declarations")
	void unfinishedTypeInADeclarationIsFound(String method, Class<?> found) {
		assertThat(UnfinishedResults
			.findType(ResolvableType.forMethodReturnType(ReflectionUtils.findMethod(Declarations.class, method))))
			.isEqualTo(found);
	}

	static Stream<Arguments> declarations() {
		return Stream.of(Arguments.of("entity", CompletableFuture.class), Arguments.of("map", CompletableFuture.class),
				Arguments.of("array", Mono.class), Arguments.of("deferred", Deferred.class),
				Arguments.of("emitter", SseEmitter.class), Arguments.of("plain", null), Arguments.of("variable", null));
	}

	static class Controller {

		@DistributedLock
		Object handle(Object result) {
			return result;
		}

	}

	interface Declarations {

		ResponseEntity<CompletableFuture<String>> entity();

		Map<String, Optional<CompletableFuture<String>>> map();

		Mono<?>[] array();

		SseEmitter emitter();

		Deferred<String> deferred();

		List<Map<String, Object>> plain();

		<T> T variable();

	}

}
