package io.distributedlock.jdbc.rowlock;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.distributedlock.jdbc.connection.ConnectionSource;
import io.distributedlock.jdbc.dialect.Dialect;
import io.distributedlock.jdbc.dialect.H2Dialect;
import io.distributedlock.jdbc.rowlock.HeldRows.SessionCheck;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockTimer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.anyString;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** Checks and ends of sessions, of which some do not answer. */
class HeldRowsTests {

	private static final int SIZE = 16;

	private static final Duration LEASE = Duration.ofMinutes(5);

	private final CountDownLatch asked = new CountDownLatch(SIZE - 1);

	private final CountDownLatch answer = new CountDownLatch(1);

	private final LockTimer timer = new LockTimer();

	private final Dialect dialect = new H2Dialect("distributed_lock");

	private final HeldRows rows = new HeldRows(pool(), LEASE, this.timer);

	@AfterEach
	void close() {
		this.answer.countDown();
		this.rows.close();
		this.timer.close();
	}

	private static RowLockPool pool() {
		ConnectionSource source = mock(ConnectionSource.class);
		given(source.size()).willReturn(SIZE);
		return new RowLockPool(source);
	}

	private static HeldRow row(int number, Connection connection) {
		return new HeldRow("app:orders:" + number, "owner" + number, connection, number, Deadline.after(LEASE));
	}

	/** Returns a row whose session does not answer until the end of the test. */
	private HeldRow silentRow(int number) throws SQLException {
		Connection connection = mock(Connection.class);
		given(connection.createStatement()).willAnswer((call) -> answerLate());
		given(connection.prepareStatement(anyString())).willAnswer((call) -> answerLate());
		return row(number, connection);
	}

	private Object answerLate() throws SQLException, InterruptedException {
		this.asked.countDown();
		this.answer.await();
		throw new SQLException("The session has ended");
	}

	private static HeldRow healthyRow(int number) throws SQLException {
		Connection connection = mock(Connection.class);
		Statement statement = mock(Statement.class);
		given(connection.createStatement()).willReturn(statement);
		given(statement.execute(anyString())).willReturn(true);
		return row(number, connection);
	}

	private SessionState check(HeldRow row) {
		return this.rows.check(row, this.dialect, LEASE).state(Deadline.after(Duration.ofSeconds(30)));
	}

	@Test
	void sessionsWithoutAnAnswerHoldUpNoOtherCheckAndNoEnd() throws Exception {
		List<HeldRow> silent = new ArrayList<>();
		for (int number = 1; number < SIZE; number++) {
			silent.add(silentRow(number));
		}
		silent.forEach((row) -> this.rows.check(row, this.dialect, LEASE));
		assertThat(this.asked.await(30, TimeUnit.SECONDS)).isTrue();
		silent.forEach((row) -> this.rows.end(row, this.dialect));
		HeldRow healthy = healthyRow(SIZE);
		assertThat(check(healthy)).isEqualTo(SessionState.ALIVE);
		assertThat(HeldRows.await(this.rows.end(healthy, this.dialect), Deadline.after(Duration.ofSeconds(30))))
			.isTrue();
	}

	@Test
	void joinedCheckIsNotAwaited() throws SQLException {
		HeldRow silent = silentRow(1);
		SessionCheck begun = this.rows.check(silent, this.dialect, LEASE);
		SessionCheck joined = this.rows.check(silent, this.dialect, LEASE);
		Deadline deadline = Deadline.after(Duration.ofSeconds(20));
		assertThat(joined.state(deadline)).isEqualTo(SessionState.UNCLEAR);
		assertThat(deadline.isPast()).isFalse();
		this.answer.countDown();
		assertThat(begun.state(Deadline.after(LEASE))).isEqualTo(SessionState.ENDED);
		assertThat(joined.state(Deadline.after(LEASE))).isEqualTo(SessionState.ENDED);
	}

}
