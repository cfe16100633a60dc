package io.distributedlock.redis.script;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

/**
 * Tests with a client whose connections are there when the test says so.
 */
class BlockingScriptExecutorTests {

	private static final ScriptCall CALL = ScriptCall.probe(RedisLayout.bytes("{key}:lock"));

	private static final Duration SHORT = Duration.ofMillis(50);

	private final RedisConnectionFactory factory = mock(RedisConnectionFactory.class);

	private final RedisConnection connection = mock(RedisConnection.class);

	private final CountDownLatch connected = new CountDownLatch(1);

	private final CountDownLatch replied = new CountDownLatch(1);

	private final AtomicBoolean sent = new AtomicBoolean();

	private final BlockingScriptExecutor executor = new BlockingScriptExecutor(this.factory,
			(connection, calls, deadline, check) -> List.of(ScriptOutcome.of(reply(check))));

	private ScriptReply reply(SendGuard check) {
		check.beginSend();
		this.sent.set(true);
		await(this.replied);
		return new ScriptReply(List.of(1L), true);
	}

	private static void await(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@BeforeEach
	void connect() {
		when(this.factory.getConnection()).thenAnswer((invocation) -> {
			await(this.connected);
			return this.connection;
		});
	}

	@AfterEach
	void close() {
		this.connected.countDown();
		this.replied.countDown();
		this.executor.close();
	}

	private LockProviderException failure(Duration timeout) {
		Operation operation = new Operation();
		this.executor.run(CALL, CallKind.ACQUIRE, Deadline.after(timeout), operation);
		LockProviderException[] failure = new LockProviderException[1];
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(operation.call()::result)
			.satisfies((ex) -> failure[0] = ex);
		return failure[0];
	}

	@Test
	void callWhoseTimeEndsBeforeItsConnectionIsThereIsNotSent() {
		LockProviderException failure = failure(SHORT);
		assertThat(failure.error()).isEqualTo(LockError.STORE_TIMEOUT);
		assertThat(failure.isEffectUnknown()).isFalse();
		this.connected.countDown();
		this.executor.close();
		assertThat(this.sent).isFalse();
	}

	@Test
	void callInterruptedBeforeItsConnectionIsThereIsNotSent() {
		Thread.currentThread().interrupt();
		LockProviderException failure = failure(Duration.ofMinutes(1));
		assertThat(Thread.interrupted()).isTrue();
		assertThat(failure.isEffectUnknown()).isFalse();
		this.connected.countDown();
		this.executor.close();
		assertThat(this.sent).isFalse();
	}

	@Test
	void callWithoutReplyMayHaveBeenRun() {
		this.connected.countDown();
		// A machine that stalls sends nothing before the time of the call is over.
		LockProviderException failure = Awaitility.await()
			.until(() -> failure(Duration.ofSeconds(1)), (ex) -> this.sent.get());
		assertThat(failure.error()).isEqualTo(LockError.STORE_TIMEOUT);
		assertThat(failure.isEffectUnknown()).isTrue();
	}

	@Test
	void closedExecutorSendsNothing() {
		this.connected.countDown();
		this.executor.close();
		LockProviderException failure = failure(Duration.ofMinutes(1));
		assertThat(failure.error()).isEqualTo(LockError.SHUTTING_DOWN);
		assertThat(failure.isEffectUnknown()).isFalse();
		assertThat(this.sent).isFalse();
	}

	private static final class Operation extends ReplyHandler<ScriptReply> {

		@Override
		public void onReply(ScriptReply reply) {
			call().complete(reply);
		}

		@Override
		public void onFailure(LockProviderException failure) {
			call().fail(failure);
		}

	}

}
