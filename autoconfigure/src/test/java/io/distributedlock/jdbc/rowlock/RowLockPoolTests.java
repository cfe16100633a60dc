package io.distributedlock.jdbc.rowlock;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockProviderException;
import io.distributedlock.jdbc.TestDatabases;
import io.distributedlock.jdbc.connection.ConnectionSource;
import io.distributedlock.jdbc.connection.SqlCallExecutor;
import io.distributedlock.jdbc.dialect.DatabaseKind;
import io.distributedlock.jdbc.dialect.RowLockStatements.RowWait;
import io.distributedlock.jdbc.dialect.Sql;
import io.distributedlock.jdbc.rowlock.RowLockPool.Reservation;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockTimer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;

/** Reservations of connections for row locks, and the ends of their loans. */
class RowLockPoolTests {

	private static final String ROW = "%row:app:orders:42";

	private final ConnectionSource source = mock(ConnectionSource.class);

	private final Connection connection = mock(Connection.class);

	private RowLockPool pool;

	@BeforeEach
	void createPool() {
		given(this.source.size()).willReturn(2);
		given(this.source.borrow(any())).willReturn(this.connection);
		this.pool = new RowLockPool(this.source);
	}

	private @Nullable Reservation reserve() throws InterruptedException {
		return this.pool.reserve(Deadline.now());
	}

	@Test
	void reservationLastsUntilTheConnectionOfAnEndedAttemptIsBack() throws InterruptedException {
		Reservation abandoned = reserve();
		assertThat(reserve()).isNotNull();
		assertThat(this.pool.use(this.pool.borrow(Deadline.now()), abandoned)).isTrue();
		abandoned.end();
		assertThat(reserve()).isNull();
		this.pool.close(this.connection);
		assertThat(reserve()).isNotNull();
	}

	@Test
	void endedAttemptBeginsNoCall() throws InterruptedException {
		Reservation abandoned = reserve();
		this.pool.borrow(Deadline.now());
		abandoned.end();
		assertThat(this.pool.use(this.connection, abandoned)).isFalse();
		this.pool.close(this.connection);
		assertThat(reserve()).isNotNull();
		assertThat(reserve()).isNotNull();
		assertThat(reserve()).isNull();
	}

	@Test
	void abortedConnectionIsDiscardedOnce() throws InterruptedException {
		Reservation reservation = reserve();
		this.pool.use(this.pool.borrow(Deadline.now()), reservation);
		this.pool.keep(this.connection);
		reservation.end();
		this.pool.abort(this.connection);
		this.pool.discard(this.connection);
		this.pool.giveBack(this.connection);
		verify(this.source, times(1)).abort(this.connection);
		verify(this.source, never()).discard(any());
		verify(this.source, never()).close(any());
		assertThat(reserve()).isNotNull();
		assertThat(reserve()).isNotNull();
		assertThat(reserve()).isNull();
	}

	@Test
	void callThatHasNoConnectionNamesThePropertyThatGivesItOne() throws Exception {
		CountDownLatch begun = new CountDownLatch(1);
		CountDownLatch ended = new CountDownLatch(1);
		given(this.source.borrow(any())).willAnswer((invocation) -> {
			begun.countDown();
			ended.await();
			throw new IllegalStateException("ended");
		});
		try (LockTimer timer = new LockTimer();
				SqlCallExecutor calls = new SqlCallExecutor(this.pool, "distributed_lock", timer)) {
			Thread busy = new Thread(() -> assertThatIllegalStateException()
				.isThrownBy(() -> calls.execute(CallKind.ACQUIRE, Duration.ofMinutes(1), (held, dialect) -> true)));
			busy.start();
			begun.await();
			assertThatExceptionOfType(LockProviderException.class)
				.isThrownBy(() -> calls.execute(CallKind.ACQUIRE, Duration.ofMillis(10), (held, dialect) -> true))
				.withMessageContaining("none of its 2 connections")
				.withMessageContaining("their number is distributed-lock.jdbc.pool.row-lock-size");
			ended.countDown();
			busy.join();
		}
	}

	@Test
	void connectionOfAnAbandonedAttemptReturnsAlthoughItsEndFails() throws Exception {
		CountDownLatch begun = new CountDownLatch(1);
		CountDownLatch answer = new CountDownLatch(1);
		LockTimer timer = new LockTimer();
		SqlCallExecutor calls = new SqlCallExecutor(this.pool, "distributed_lock", timer);
		RowLocks locks = new RowLocks(this.pool, calls, "distributed_lock", Duration.ofSeconds(1));
		try (Connection database = TestDatabases.withTable(TestDatabases.h2()).getConnection()) {
			DatabaseKind.of(database).dialect("distributed_lock").rowLocks().insert(database, ROW);
			Connection late = failingEnd(database, begun, answer);
			given(this.source.borrow(any())).willReturn(late);
			Reservation abandoned = reserve();
			Thread caller = new Thread(() -> {
				assertThatExceptionOfType(LockProviderException.class)
					.isThrownBy(() -> locks.lock(ROW, RowWait.NONE, Duration.ofMinutes(5), abandoned));
				abandoned.end();
			});
			caller.start();
			assertThat(begun.await(1, TimeUnit.MINUTES)).isTrue();
			caller.interrupt();
			caller.join();
			assertThat(reserve()).isNotNull();
			assertThat(reserve()).isNull();
			answer.countDown();
			await().untilAsserted(() -> verify(this.source).close(late));
			await().untilAsserted(() -> assertThat(reserve()).isNotNull());
			assertThat(this.pool.kept()).isZero();
		}
		finally {
			calls.close();
			timer.close();
		}
	}

	/** Returns a connection that answers late, and fails to end its transaction. */
	private static Connection failingEnd(Connection database, CountDownLatch begun, CountDownLatch answer)
			throws SQLException {
		Connection late = mock(Connection.class, (call) -> call.getMethod().invoke(database, call.getArguments()));
		given(late.getAutoCommit()).willReturn(true);
		doAnswer((call) -> {
			begun.countDown();
			answer.await();
			return null;
		}).when(late).setAutoCommit(false);
		doThrow(new SQLException("The rollback fails")).when(late).rollback();
		return late;
	}

}
