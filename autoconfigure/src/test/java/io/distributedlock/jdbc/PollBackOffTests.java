package io.distributedlock.jdbc;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import io.distributedlock.jdbc.LockRow.QueueEntry;

import static org.assertj.core.api.Assertions.assertThat;

class PollBackOffTests {

	private static final String PROCESS = "p1";

	private static final long RESERVATION_MICROS = 100_000;

	private static final long LONG_MICROS = 60_000_000;

	private final PollBackOff backOff = new PollBackOff();

	private static LockRow row(long order, long remainingMicros) {
		return new LockRow("rival", order, "host", 0, remainingMicros, 0, null, null);
	}

	private Duration poll(LockRow row) {
		return this.backOff.polling(row, PROCESS, 0, RESERVATION_MICROS);
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
		assertThat(this.backOff.polling(row(1, 30_000), PROCESS, 10_000, RESERVATION_MICROS))
			.isEqualTo(Duration.ofMillis(20));
		assertThat(this.backOff.notified(row(1, 30_000), 10_000)).isEqualTo(Duration.ofMillis(20));
	}

	@Test
	void pauseIsAtLeastAMillisecond() {
		assertThat(poll(row(1, -5))).isEqualTo(Duration.ofMillis(1));
	}

	@Test
	void notifiedContenderPollsAboutOnceASecond() {
		assertThat(this.backOff.notified(row(1, LONG_MICROS), 0)).isBetween(Duration.ofMillis(800),
				Duration.ofSeconds(1));
	}

	@Test
	void contenderPollsSoonAfterNotificationsHaveEnded() {
		exhaust(row(1, LONG_MICROS));
		this.backOff.notified(row(1, LONG_MICROS), 0);
		assertThat(poll(row(1, LONG_MICROS))).isBetween(Duration.ofMillis(4), Duration.ofMillis(5));
	}

}
