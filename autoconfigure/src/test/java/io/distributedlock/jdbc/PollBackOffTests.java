package io.distributedlock.jdbc;

import java.time.Duration;

import org.jspecify.annotations.Nullable;
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

	private static LockRow row(long remainingMicros) {
		return new LockRow("rival", 1, "host", 0, remainingMicros, 0, null, null);
	}

	private static Duration poll(LockRow row) {
		return PollBackOff.polling(row, ATTEMPT, 0, RESERVATION_MICROS);
	}

	/** Returns a row that was granted and waited for a time ago. */
	private static LockRow waited(long micros, @Nullable QueueEntry first, @Nullable QueueEntry second) {
		return new LockRow("rival", 1, "host", micros, LONG_MICROS, micros, first, second);
	}

	private static Duration pauseOfFirst(long waitedMicros, long reservationMicros) {
		LockRow row = waited(waitedMicros, new QueueEntry(PROCESS, 0, LONG_MICROS), null);
		return PollBackOff.polling(row, attempt(0), 0, reservationMicros);
	}

	private static Duration pauseOfSecond(long waitedMicros) {
		LockRow row = waited(waitedMicros, new QueueEntry("p2", 0, LONG_MICROS),
				new QueueEntry(PROCESS, 0, LONG_MICROS));
		return PollBackOff.polling(row, attempt(0), 0, RESERVATION_MICROS);
	}

	private static Duration pauseWithoutAnEntry(long waitedMicros) {
		return PollBackOff.polling(waited(waitedMicros, null, null), attempt(0), 0, RESERVATION_MICROS);
	}

	private static void assertPause(Duration pause, long micros) {
		assertThat(pause.toNanos() / 1000).isBetween(micros - micros / 5, micros);
	}

	@Test
	void firstContenderPollsAfterASixteenthOfItsWait() {
		assertPause(pauseOfFirst(0, RESERVATION_MICROS), 1_000);
		assertPause(pauseOfFirst(80_000, RESERVATION_MICROS), 5_000);
		assertPause(pauseOfFirst(160_000, RESERVATION_MICROS), 10_000);
		assertPause(pauseOfFirst(999_999, RESERVATION_MICROS), 10_000);
		assertPause(pauseOfFirst(1_600_000, 250_000), 100_000);
	}

	@Test
	void queuedContenderPollsTwiceWithinAReservation() {
		assertPause(pauseOfFirst(1_000_000, RESERVATION_MICROS), RESERVATION_MICROS / 2);
		assertPause(pauseOfFirst(LONG_MICROS, RESERVATION_MICROS), RESERVATION_MICROS / 2);
		assertPause(pauseOfSecond(LONG_MICROS), RESERVATION_MICROS / 2);
	}

	@Test
	void clockThatWasSetBackDoesNotMakeAContenderPollMoreOften() {
		LockRow row = new LockRow("rival", 1, "host", LONG_MICROS, LONG_MICROS, 0,
				new QueueEntry(PROCESS, LONG_MICROS, 2 * LONG_MICROS), null);
		assertPause(PollBackOff.polling(row, attempt(LONG_MICROS), 0, RESERVATION_MICROS), RESERVATION_MICROS / 2);
	}

	@Test
	void secondContenderPollsSoonAfterAGrant() {
		assertPause(pauseOfSecond(0), 1_000);
		assertPause(pauseOfSecond(20_000), 11_000);
	}

	@Test
	void pauseWithoutAnEntryGrowsFromFiveToTwoHundredFiftyMilliseconds() {
		assertPause(poll(row(LONG_MICROS)), 5_000);
		assertPause(pauseWithoutAnEntry(30_000), 20_000);
		assertPause(pauseWithoutAnEntry(LONG_MICROS), 250_000);
	}

	@Test
	void pauseStartsAgainAfterAGrantToAnotherProcess() {
		LockRow granted = new LockRow("rival", 1, "host", 32_000, LONG_MICROS, LONG_MICROS,
				new QueueEntry(PROCESS, 0, LONG_MICROS), null);
		assertPause(PollBackOff.polling(granted, attempt(0), 0, RESERVATION_MICROS), 2_000);
	}

	@Test
	void pauseEndsWithTheLeaseOfTheHolder() {
		LockRow ending = new LockRow("rival", 1, "host", LONG_MICROS, 30_000, LONG_MICROS, null, null);
		assertThat(PollBackOff.polling(ending, attempt(0), 10_000, RESERVATION_MICROS))
			.isEqualTo(Duration.ofMillis(20));
		assertThat(PollBackOff.notified(row(30_000), ATTEMPT, 10_000, RESERVATION_MICROS))
			.isEqualTo(Duration.ofMillis(20));
	}

	@Test
	void pauseIsAtLeastAMillisecond() {
		assertThat(poll(row(-5))).isEqualTo(Duration.ofMillis(1));
	}

	@Test
	void notifiedContenderPollsAboutOnceASecond() {
		assertThat(PollBackOff.notified(row(LONG_MICROS), ATTEMPT, 0, RESERVATION_MICROS))
			.isBetween(Duration.ofMillis(800), Duration.ofSeconds(1));
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
		assertThat(PollBackOff.notified(early, late, 0, RESERVATION_MICROS)).isLessThan(Duration.ofMillis(50));
		LockRow later = queued(RESERVATION_MICROS);
		assertThat(PollBackOff.untilTurnMicros(later, late, RESERVATION_MICROS)).isNegative();
		assertThat(PollBackOff.notified(later, late, 0, RESERVATION_MICROS)).isGreaterThan(Duration.ofMillis(500));
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
