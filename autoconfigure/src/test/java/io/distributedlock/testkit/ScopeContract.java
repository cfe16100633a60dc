package io.distributedlock.testkit;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

import org.junit.jupiter.api.Test;

import io.distributedlock.LockContext;
import io.distributedlock.LockError;
import io.distributedlock.LockInterruptedException;
import io.distributedlock.LockKey;
import io.distributedlock.LockLostException;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Part of the contract on {@code execute}: a body runs under its lock, nested calls join
 * it, and the caller sees the body's exception.
 */
interface ScopeContract extends ContractSupport {

	@Test
	default void nestedCallJoinsWithoutCommandsAndKeepsTheLease() {
		withShortLease((leaseTime) -> {
			LockKey key = freshKey();
			ContractProcess process = process();
			ContractProcess other = process();
			String result = process.locks().execute(LockRequest.of(key).withLease(leaseTime), (outer) -> {
				int attempts = process.provider().attempts();
				LockRequest nested = LockRequest.of(key).withLease(Duration.ofMillis(10)).withoutRenewal();
				for (int round = 0; round < 10; round++) {
					process.locks().execute(nested, (inner) -> {
						assertThat(inner.fencingToken()).isEqualTo(outer.fencingToken());
						assertThat(LockContext.current().fencingToken()).isEqualTo(outer.fencingToken());
						return null;
					});
				}
				assertThat(process.provider().attempts()).isEqualTo(attempts);
				assertThat(process.provider().releases()).isZero();
				ContractSupport.assertStays(leaseTime.multipliedBy(3).dividedBy(2),
						() -> ContractSupport.isHeldAlone(outer, other, key));
				return "result";
			});
			assertThat(result).isEqualTo("result");
			assertThat(LockContext.find()).isEmpty();
			assertThat(other.isBusy(key)).isFalse();
		});
	}

	@Test
	default void nestedCallUnderALostLockFails() {
		withShortLease((leaseTime) -> {
			LockKey key = freshKey();
			LockTemplate locks = process().locks();
			AtomicBoolean ran = new AtomicBoolean();
			Throwable thrown = catchThrowable(() -> locks.execute(LockRequest.of(key).withLease(leaseTime), (lease) -> {
				fixture().expire(key);
				ContractSupport.awaitLoss(lease);
				return locks.execute(LockRequest.of(key), (inner) -> {
					ran.set(true);
					return null;
				});
			}));
			Rounds.promise(() -> assertThat(ran).as("ran after the loss").isFalse());
			assertThat(thrown).isInstanceOf(LockLostException.class);
			assertThat(((LockLostException) thrown).error()).isEqualTo(LockError.REENTRY_AFTER_LOSS);
		});
	}

	@Test
	default void otherThreadsAndOtherProcessesDoNotJoin() {
		LockRequest request = LockRequest.of(freshKey()).withWaitTime(Duration.ZERO);
		LockTemplate locks = process().locks();
		LockTemplate other = process().locks();
		locks.execute(request, (lease) -> {
			assertThatExceptionOfType(LockNotAcquiredException.class)
				.isThrownBy(() -> TestThread.start(() -> locks.execute(request, (inner) -> "joined")).result());
			assertThatExceptionOfType(LockNotAcquiredException.class)
				.isThrownBy(() -> other.execute(request, (inner) -> "joined"));
			return null;
		});
	}

	@Test
	default void bodyDoesNotRunWithoutTheLock() {
		LockKey key = freshKey();
		process().acquire(key);
		AtomicBoolean ran = new AtomicBoolean();
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(
				() -> process().locks().execute(LockRequest.of(key).withWaitTime(Duration.ofMillis(50)), (lease) -> {
					ran.set(true);
					return null;
				}));
		assertThat(ran).isFalse();
	}

	@Test
	default void exceptionOfTheBodyPassesUnchangedAndFreesTheLock() {
		LockTemplate locks = process().locks();
		ContractProcess other = process();
		for (Throwable problem : List.of(new IOException("io"), new InterruptedException("body"),
				new IllegalStateException("state"), new AssertionError("error"), new StackOverflowError(),
				new LockNotAcquiredException(LockKey.of("of-the-body"), Duration.ZERO, null),
				new LockInterruptedException(LockKey.of("of-the-body")))) {
			LockKey key = freshKey();
			Throwable thrown = catchThrowable(() -> locks.<Object, Throwable>execute(LockRequest.of(key), (lease) -> {
				throw problem;
			}));
			assertThat(thrown).isSameAs(problem);
			assertThat(thrown.getSuppressed()).isEmpty();
			assertThat(LockContext.find()).isEmpty();
			assertThat(other.isBusy(key)).isFalse();
		}
	}

	@Test
	default void handleOpensNoScope() {
		LockTemplate locks = process().locks();
		LockRequest request = LockRequest.of(freshKey());
		var lease = locks.acquire(request);
		assertThat(LockContext.find()).isEmpty();
		lease.close();
	}

	@Test
	default void bodyMayReturnNull() {
		Object result = process().locks().execute(LockRequest.of(freshKey()), (lease) -> null);
		assertThat(result).isNull();
	}

}
