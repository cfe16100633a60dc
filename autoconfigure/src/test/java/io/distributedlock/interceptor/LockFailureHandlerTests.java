package io.distributedlock.interceptor;

import java.io.IOException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockFailureHandler;
import io.distributedlock.LockKey;
import io.distributedlock.LockLostException;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockProviderException;
import io.distributedlock.LossReason;
import io.distributedlock.OnBusy;
import io.distributedlock.annotation.DistributedLock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

class LockFailureHandlerTests {

	private static final LockException BUSY = new LockNotAcquiredException(LockKey.of("k"), Duration.ZERO, null);

	private static final LockException DOWN = new LockProviderException(LockError.STORE_FAILED, "test", "failed", null);

	private final RecordingLockOperations operations = new RecordingLockOperations();

	private final Handler handler = new Handler();

	private final LockedProxies proxies = new LockedProxies(this.operations).bean("handler", this.handler);

	private final Work target = new Work();

	private final Work work = this.proxies.ofClass(this.target);

	static List<LockException> failures() {
		return List.of(BUSY, DOWN);
	}

	@ParameterizedTest
	@MethodSource("failures")
	void handlerReturnsTheResult(LockException failure) {
		this.operations.refusing(failure);
		this.handler.result = "handled";
		assertThat(this.work.text(7)).isEqualTo("handled");
		assertThat(this.handler.calls).containsExactly("text[7]");
		assertThat(this.handler.failure).isSameAs(failure);
		assertThat(this.handler.target).isSameAs(this.target);
	}

	@ParameterizedTest
	@MethodSource("failures")
	void handlerThrows(LockException failure) {
		this.operations.refusing(failure);
		IOException thrown = new IOException();
		this.handler.thrown = thrown;
		assertThat(catchThrowable(this.work::throwing)).isSameAs(thrown);
	}

	@Test
	void methodOfAnInterfaceIsThatOfTheTarget() {
		this.operations.refusing(BUSY);
		this.handler.result = "handled";
		assertThat(this.proxies.ofInterface(Task.class, new TaskWork()).run()).isEqualTo("handled");
		assertThat(this.handler.declaring).isEqualTo(TaskWork.class);
	}

	@Test
	void exceptionIsThrownWithoutAHandler() {
		LockedProxies plain = new LockedProxies(this.operations.refusing(DOWN));
		assertThat(catchThrowable(() -> plain.ofClass(new Work()).text(7))).isSameAs(DOWN);
	}

	@Test
	void skipAndFallbackReactToABusyLockThemselves() {
		this.operations.refusing(BUSY);
		assertThat(this.work.skipping()).isNull();
		assertThat(this.work.fallingBack()).isEqualTo("stale");
		assertThat(this.handler.calls).isEmpty();
	}

	@Test
	void storeThatCannotAnswerIsHandledWithEveryPolicy() {
		this.operations.refusing(DOWN);
		this.handler.result = "handled";
		assertThat(this.work.skipping()).isEqualTo("handled");
		assertThat(this.work.fallingBack()).isEqualTo("handled");
	}

	@ParameterizedTest
	@MethodSource("failures")
	void exceptionsOfTheBodyAreNotHandled(LockException failure) {
		assertThat(catchThrowable(() -> this.work.body(() -> {
			throw failure;
		}))).isSameAs(failure);
		assertThat(this.handler.calls).isEmpty();
	}

	@Test
	void exceptionOfTheKeyIsNotHandled() {
		this.proxies.bean("tenants", (Supplier<String>) () -> {
			throw BUSY;
		});
		assertThat(catchThrowable(this.work::ofTenant)).isSameAs(BUSY);
		assertThat(this.handler.calls).isEmpty();
	}

	@Test
	void lossIsNotHandled() {
		LockLostException lost = new LockLostException(LockError.REENTRY_AFTER_LOSS, LockKey.of("k"),
				LossReason.EXPIRED, null);
		this.operations.refusing(lost);
		assertThat(catchThrowable(() -> this.work.text(7))).isSameAs(lost);
		assertThat(this.handler.calls).isEmpty();
	}

	@ParameterizedTest
	@MethodSource("failures")
	void handlerReturnsFuturesAndPublishers(LockException failure) {
		this.operations.refusing(failure);
		CompletableFuture<String> future = CompletableFuture.completedFuture("handled");
		this.handler.result = future;
		assertThat(this.work.future()).isSameAs(future);
		this.handler.result = Mono.just("handled");
		assertThat(this.work.mono().block()).isEqualTo("handled");
		this.handler.result = Flux.just("handled", "twice");
		assertThat(this.work.flux().collectList().block()).containsExactly("handled", "twice");
	}

	@Test
	void resultsOfPrimitivesAreUnboxed() {
		this.operations.refusing(BUSY);
		this.handler.result = 5;
		assertThat(this.work.number()).isEqualTo(5);
	}

	@Test
	void resultForVoidIsIgnored() {
		this.operations.refusing(BUSY);
		this.handler.result = "anything";
		this.work.nothing();
		this.proxies.ofInterface(Task.class, new TaskWork()).nothing();
		assertThat(this.handler.calls).hasSize(2);
	}

	@Test
	void unsuitableResultIsATypedError() {
		this.operations.refusing(BUSY);
		this.handler.result = 5;
		assertUnsuitable(() -> this.work.text(7), "returned a java.lang.Integer", "Work.text(long)");
		this.handler.result = 5L;
		assertUnsuitable(this.work::number, "returned a java.lang.Long", "Work.number()");
		assertUnsuitable(this.work::future, "returned a java.lang.Long", "Work.future()");
		assertUnsuitable(() -> this.work.mono().block(), "returned a java.lang.Long", "Work.mono()");
		assertUnsuitable(() -> this.proxies.ofInterface(Task.class, new TaskWork()).run(), "a java.lang.Long",
				"TaskWork.run()");
	}

	@Test
	void nullIsUnsuitableWhereTheCallerCannotReceiveIt() {
		this.operations.refusing(BUSY);
		assertThat(this.work.text(7)).isNull();
		assertUnsuitable(this.work::number, "returned null", "Work.number()");
		assertUnsuitable(this.work::future, "returned null", "Work.future()");
		assertUnsuitable(() -> this.work.mono().block(), "returned null", "Work.mono()");
	}

	private static void assertUnsuitable(Supplier<?> call, String fact, String method) {
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(call::get)
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.UNSUITABLE_RESULT))
			.withMessageContaining("LockFailureHandler " + Handler.class.getName())
			.withMessageContaining(fact)
			.withMessageContaining(method);
	}

	static final class Handler implements LockFailureHandler {

		private final List<String> calls = new ArrayList<>();

		private @Nullable Object result;

		private @Nullable Throwable thrown;

		private @Nullable LockException failure;

		private @Nullable Object target;

		private @Nullable Class<?> declaring;

		@Override
		public @Nullable Object handleFailure(LockException failure, Method method, @Nullable Object target,
				@Nullable Object[] args) throws Throwable {
			this.calls.add(method.getName() + List.of(args));
			this.failure = failure;
			this.target = target;
			this.declaring = method.getDeclaringClass();
			if (this.thrown != null) {
				throw this.thrown;
			}
			return this.result;
		}

	}

	interface Task<T> {

		@DistributedLock
		T run();

		@DistributedLock
		void nothing();

	}

	static class TaskWork implements Task<String> {

		@Override
		public String run() {
			return "done";
		}

		@Override
		public void nothing() {
		}

	}

	static class Work {

		@DistributedLock
		String text(long id) {
			return "done";
		}

		@DistributedLock
		int number() {
			return 1;
		}

		@DistributedLock
		void nothing() {
		}

		@DistributedLock
		void throwing() throws IOException {
		}

		@DistributedLock
		String body(Supplier<String> body) {
			return body.get();
		}

		@DistributedLock("@tenants.get()")
		void ofTenant() {
		}

		@DistributedLock(onBusy = OnBusy.SKIP)
		String skipping() {
			return "done";
		}

		@DistributedLock(fallback = "stale")
		String fallingBack() {
			return "done";
		}

		String stale() {
			return "stale";
		}

		@DistributedLock
		CompletableFuture<String> future() {
			return CompletableFuture.completedFuture("done");
		}

		@DistributedLock
		Mono<String> mono() {
			return Mono.just("done");
		}

		@DistributedLock
		Flux<String> flux() {
			return Flux.just("done");
		}

	}

}
