package io.distributedlock.jdbc;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import io.distributedlock.jdbc.dialect.LockRow;
import io.distributedlock.jdbc.dialect.LockRow.QueueEntry;
import io.distributedlock.jdbc.dialect.NotificationPayload;
import io.distributedlock.jdbc.dialect.RowAttempt;

import static org.assertj.core.api.Assertions.assertThat;

class PollBackOffTests {

	private static final String PROCESS = "p1";

	private static final long RESERVATION_MICROS = 100_000;

	private static final long LONG_MICROS = 60_000_000;

	private static final RowAttempt ATTEMPT = new RowAttempt("key", "owner", LONG_MICROS, "host", PROCESS, true, null);

	private final PollBackOff backOff = new PollBackOff();

	private static LockRow row(long order, long remainingMicros) {
		return new LockRow("rival", order, "host", 0, remainingMicros, 0, null, null);
	}

	private Duration poll(LockRow row) {
		return this.backOff.polling(row, ATTEMPT, 0, RESERVATION_MICROS);
	}

	private void exhaust(LockRow row) {
		for (int poll = 0; poll < 30; poll++) {
			poll(row);
		}
	}

	@Test
	void pauseGrowsFromFiveToTwoHundredFiftyMilliseconds() {
		assertThat(poll(row(1, LONG_MICROS))).isBetween(Duration.ofMillis(4), Duration.ofMillis(5));
		exhaust(row(1, LONG_MICROS));
		assertThat(poll(row(1, LONG_MICROS))).isBetween(Duration.ofMillis(200), Duration.ofMillis(250));
	}

	@Test
	void pausesOfTheFirstContenderGrowSlowly() {
		LockRow first = new LockRow("rival", 1, "host", 0, LONG_MICROS, 0, new QueueEntry(PROCESS, 1, LONG_MICROS),
				null);
		for (int poll = 0; poll < 10; poll++) {
			assertThat(poll(first)).isBetween(Duration.ofMillis(4), Duration.ofMillis(15));
		}
	}

	@Test
	void pauseStartsAgainAfterAGrantToAnotherProcess() {
		exhaust(row(1, LONG_MICROS));
		assertThat(poll(row(2, LONG_MICROS))).isBetween(Duration.ofMillis(4), Duration.ofMillis(5));
	}

	@Test
	void queuedContenderPollsTwiceWithinAReservation() {
		LockRow queued = new LockRow("rival", 1, "host", 0, LONG_MICROS, 0, null,
				new QueueEntry(PROCESS, 1, LONG_MICROS));
		exhaust(queued);
		assertThat(poll(queued)).isBetween(Duration.ofMillis(40), Duration.ofMillis(50));
	}

	@Test
	void pauseEndsWithTheLeaseOfTheHolder() {
		exhaust(row(1, LONG_MICROS));
		assertThat(this.backOff.polling(row(1, 30_000), ATTEMPT, 10_000, RESERVATION_MICROS))
			.isEqualTo(Duration.ofMillis(20));
		assertThat(this.backOff.notified(row(1, 30_000), ATTEMPT, 10_000, RESERVATION_MICROS))
			.isEqualTo(Duration.ofMillis(20));
	}

	@Test
	void pauseIsAtLeastAMillisecond() {
		assertThat(poll(row(1, -5))).isEqualTo(Duration.ofMillis(1));
	}

	@Test
	void notifiedContenderPollsAboutOnceASecond() {
		assertThat(this.backOff.notified(row(1, LONG_MICROS), ATTEMPT, 0, RESERVATION_MICROS))
			.isBetween(Duration.ofMillis(800), Duration.ofSeconds(1));
	}

	@Test
	void contenderPollsSoonAfterNotificationsHaveEnded() {
		exhaust(row(1, LONG_MICROS));
		this.backOff.notified(row(1, LONG_MICROS), ATTEMPT, 0, RESERVATION_MICROS);
		assertThat(poll(row(1, LONG_MICROS))).isBetween(Duration.ofMillis(4), Duration.ofMillis(5));
	}

	@Test
	void turnIsTheLaterTheLaterAContenderWasRefused() {
		assertThat(PollBackOff.turnMicros(-5)).isZero();
		assertThat(PollBackOff.turnMicros(0)).isZero();
		long behindMicros = 1_000;
		for (long turn = 0; behindMicros < LONG_MICROS; behindMicros *= 2) {
			assertThat(PollBackOff.turnMicros(behindMicros)).isBetween(turn + 250, RESERVATION_MICROS / 2);
			turn = PollBackOff.turnMicros(behindMicros);
		}
		assertThat(PollBackOff.turnMicros(Long.MAX_VALUE)).isEqualTo(RESERVATION_MICROS / 2);
	}

	@Test
	void contenderWithoutAnEntryWaitsForItsTurn() {
		RowAttempt late = attempt(200_000);
		LockRow early = queued(1_000);
		assertThat(PollBackOff.untilTurnMicros(early, late, RESERVATION_MICROS)).isBetween(1L, RESERVATION_MICROS / 2);
		assertThat(this.backOff.notified(early, late, 0, RESERVATION_MICROS)).isLessThan(Duration.ofMillis(50));
		LockRow later = queued(RESERVATION_MICROS);
		assertThat(PollBackOff.untilTurnMicros(later, late, RESERVATION_MICROS)).isNegative();
		assertThat(this.backOff.notified(later, late, 0, RESERVATION_MICROS)).isGreaterThan(Duration.ofMillis(500));
		assertThat(PollBackOff.untilTurnMicros(early, attempt(0), RESERVATION_MICROS)).isNegative();
		LockRow free = new LockRow(LockRow.FREE, 1, "host", 1_000, 0, 0, new QueueEntry("p2", 0, LONG_MICROS), null);
		assertThat(PollBackOff.untilTurnMicros(free, late, RESERVATION_MICROS)).isZero();
	}

	@Test
	void turnBesideAReservationCountsFromTheRelease() {
		LockRow reserved = new LockRow(LockRow.RESERVED + "p3", 1, "host", LONG_MICROS, RESERVATION_MICROS - 1_000, 0,
				new QueueEntry("p2", 0, LONG_MICROS), null);
		long turnMicros = PollBackOff.turnMicros(200_000);
		assertThat(PollBackOff.untilTurnMicros(reserved, attempt(200_000), RESERVATION_MICROS))
			.isEqualTo(turnMicros - 1_000);
	}

	private static LockRow queued(long heldMicros) {
		return new LockRow("rival", 1, "host", heldMicros, LONG_MICROS, 0, new QueueEntry("p2", 0, LONG_MICROS), null);
	}

	private static RowAttempt attempt(long sinceMicros) {
		return new RowAttempt("key", "owner", LONG_MICROS, "host", PROCESS, true, sinceMicros);
	}

	@Test
	void pauseAfterANotificationDependsOnTheQueue() {
		assertThat(afterNotification(new NotificationPayload("p2", PROCESS, 5L, "key")))
			.isEqualTo(Duration.ofMillis(100));
		assertThat(afterNotification(new NotificationPayload(null, PROCESS, 5L, "key"))).isZero();
		assertThat(afterNotification(new NotificationPayload("p2", "p3", 5L, "key"))).isBetween(Duration.ofNanos(1),
				Duration.ofMillis(50));
		assertThat(afterNotification(new NotificationPayload("p2", null, 50_000L, "key"))).isZero();
		assertThat(afterNotification(new NotificationPayload("p2", null, null, "key")))
			.isLessThan(Duration.ofMillis(50));
	}

	private static Duration afterNotification(NotificationPayload payload) {
		return PollBackOff.afterNotification(payload, PROCESS, 10_000L, RESERVATION_MICROS);
	}

}
