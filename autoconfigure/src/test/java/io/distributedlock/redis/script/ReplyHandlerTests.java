package io.distributedlock.redis.script;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

import org.junit.jupiter.api.Test;

import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CompletableStoreCall;
import io.distributedlock.provider.Deadline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class ReplyHandlerTests {

	private static final ScriptReply REPLY = new ScriptReply(List.of(), true);

	private static final Deadline LATER = Deadline.after(Duration.ofMinutes(1));

	private static LockProviderException failure(CompletableStoreCall<String> call) {
		LockProviderException[] failure = new LockProviderException[1];
		assertThat(call.isDone()).isTrue();
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(call::result)
			.satisfies((ex) -> failure[0] = ex);
		return failure[0];
	}

	@Test
	void exceptionOfAStepFailsTheCall() {
		Operation operation = new Operation((call) -> {
			throw new IllegalStateException("step");
		});
		operation.reply(REPLY);
		assertThat(failure(operation.call())).hasMessageContaining("step");
		assertThat(operation.call().mayHaveBeenSent()).isTrue();
	}

	@Test
	void errorOfAStepFailsTheCall() {
		Operation operation = new Operation((call) -> {
			throw new StackOverflowError();
		});
		operation.fail(RedisErrors.notCalledInTime());
		assertThat(failure(operation.call())).hasRootCauseInstanceOf(StackOverflowError.class);
	}

	@Test
	void typedFailureOfAStepIsThatOfTheCall() {
		LockProviderException unsure = RedisErrors.notCalledInTime();
		Operation operation = new Operation((call) -> {
			throw unsure;
		});
		operation.reply(REPLY);
		assertThat(failure(operation.call())).isSameAs(unsure);
	}

	@Test
	void failureOfWhatFollowsTheCallIsNotThrown() {
		Operation operation = new Operation((call) -> call.complete("result"));
		operation.call().onDone(() -> {
			throw new IllegalStateException("follows");
		});
		operation.reply(REPLY);
		assertThat(operation.call().result()).isEqualTo("result");
		Operation failing = new Operation((call) -> {
			throw new IllegalStateException("step");
		});
		failing.call().onDone(() -> {
			throw new AssertionError("follows");
		});
		failing.reply(REPLY);
		assertThat(failure(failing.call())).hasMessageContaining("step");
	}

	@Test
	void abandonedCallIsNotSent() {
		Operation operation = new Operation((call) -> call.complete("result"));
		operation.recordQueued();
		operation.call().abandon();
		assertThat(operation.beginSend()).isFalse();
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> operation.beginSend(LATER));
		assertThat(operation.isSent()).isFalse();
		assertThat(operation.call().mayHaveBeenSent()).isFalse();
		operation.reply(REPLY);
		assertThat(operation.call().isDone()).isFalse();
	}

	@Test
	void callWhoseTimeIsOverIsNotSent() {
		Operation operation = new Operation((call) -> call.complete("result"));
		operation.recordQueued();
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> operation.beginSend(Deadline.now()))
			.satisfies((ex) -> {
				assertThat(ex.error()).isEqualTo(LockError.STORE_TIMEOUT);
				assertThat(ex.isEffectUnknown()).isFalse();
			});
		assertThat(operation.call().mayHaveBeenSent()).isFalse();
	}

	@Test
	void callThatWasSentOnceCountsAsSent() {
		Operation operation = new Operation((call) -> call.complete("result"));
		assertThat(operation.beginSend()).isTrue();
		operation.recordQueued();
		operation.call().abandon();
		assertThat(operation.beginSend()).isFalse();
		assertThat(operation.call().mayHaveBeenSent()).isTrue();
	}

	private static final class Operation extends ReplyHandler<String> {

		private final Consumer<CompletableStoreCall<String>> step;

		Operation(Consumer<CompletableStoreCall<String>> step) {
			this.step = step;
		}

		@Override
		public void onReply(ScriptReply reply) {
			this.step.accept(call());
		}

		@Override
		public void onFailure(LockProviderException failure) {
			this.step.accept(call());
		}

	}

}
