package io.distributedlock.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.distributedlock.LockHolder;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.redis.script.ScriptReply;

import static org.assertj.core.api.Assertions.assertThat;

class AttemptReplyTests {

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final long NOW_SECONDS = 1_700_000_100;

	private static final long NOW_MICROS = TimeUnit.SECONDS.toMicros(NOW_SECONDS);

	private static final String ID = OwnerId.random().text();

	private static AttemptReply reply(Object... values) {
		return new AttemptReply(new ScriptReply(List.of(values), true));
	}

	private static AttemptReply busy(String value, long remainingMillis) {
		return reply(0L, RedisLayout.bytes(value), remainingMillis, NOW_MICROS, 7L);
	}

	private static String held(long grantSecond, String label) {
		return LockValues.held(ID, NOW_MICROS, grantSecond, label);
	}

	@Test
	void newGrantHasItsOrderAndLastsTheLease() {
		AttemptReply reply = reply(42L);
		assertThat(reply.isGranted()).isTrue();
		assertThat(reply.order()).isEqualTo(42);
		assertThat(reply.validity(LEASE)).isEqualTo(LEASE);
	}

	@Test
	void repeatedGrantLastsTheRestOfTheLease() {
		assertThat(reply(42L, 1500L).validity(LEASE)).isEqualTo(Duration.ofMillis(1500));
	}

	@ParameterizedTest
	@ValueSource(longs = { -1, 30_001 })
	void repeatedGrantLastsNoLongerThanTheLease(long remainingMillis) {
		assertThat(reply(42L, remainingMillis).validity(LEASE)).isEqualTo(LEASE);
	}

	@Test
	void holderIsReadFromTheHeaderOfAHeldLock() {
		AttemptReply reply = busy(held(NOW_SECONDS - 100, "vm:16162"), 5000);
		assertThat(reply.isGranted()).isFalse();
		assertThat(reply.score()).isEqualTo(7);
		assertThat(reply.holder()).isEqualTo(
				LockHolder.of("vm:16162").withHeldFor(Duration.ofSeconds(100)).withRemaining(Duration.ofSeconds(5)));
	}

	@Test
	void timesThatAreUnknownAreNull() {
		String unreadable = held(NOW_SECONDS, "vm:16162").replace(NOW_SECONDS + "0", "somewhen??0");
		assertThat(busy(unreadable, -1).holder()).isEqualTo(LockHolder.of("vm:16162"));
		assertThat(busy(held(NOW_SECONDS + 1, "vm:16162"), -1).holder()).isEqualTo(LockHolder.of("vm:16162"));
	}

	@Test
	void reservedOrUnreadableValueHasNoHolder() {
		assertThat(busy(LockValues.reserved(ID, NOW_MICROS), 1100).holder()).isNull();
		assertThat(busy("", 0).holder()).isNull();
		assertThat(busy(ID + "H17", 100).holder()).isNull();
		assertThat(busy(held(NOW_SECONDS, "vm:1").replace(ID + "H", ID + "X"), 100).holder()).isNull();
	}

	@RepeatedTest(20)
	void queuedProcessPollsAfterFourFifthsOfASecondAtTheEarliest() {
		assertThat(busy(held(NOW_SECONDS, "vm:1"), 30_000).retryAfter(true, true)).isBetween(Duration.ofMillis(800),
				RedisLayout.POLL_INTERVAL);
	}

	@RepeatedTest(20)
	void processWithoutNotificationsPollsTenTimesASecond() {
		assertThat(busy(held(NOW_SECONDS, "vm:1"), 30_000).retryAfter(false, true)).isBetween(Duration.ofMillis(80),
				Duration.ofMillis(100));
	}

	@Test
	void processWithoutNotificationsAttemptsTwiceInAReservation() {
		assertThat(busy(held(NOW_SECONDS, "vm:1"), 30_000).retryAfter(true, false)).isBetween(Duration.ofMillis(40),
				RedisLayout.RESERVATION.dividedBy(2));
	}

	@Test
	void creationAndLostEntryAreRead() {
		byte[] value = RedisLayout.bytes(held(NOW_SECONDS, "vm:1"));
		assertThat(reply(0L, value, 30_000L, NOW_MICROS, 7L, 1L).created()).isEqualTo(NOW_MICROS);
		assertThat(reply(0L, value, 30_000L, NOW_MICROS, 7L, 1L).isEntryGone()).isTrue();
		assertThat(reply(0L, value, 30_000L, NOW_MICROS, 7L, 0L).isEntryGone()).isFalse();
	}

	@Test
	void nextAttemptComesWhenTheLeaseEnds() {
		assertThat(busy(held(NOW_SECONDS, "vm:1"), 30).retryAfter(true, true)).isEqualTo(Duration.ofMillis(30));
	}

	@RepeatedTest(20)
	void nextAttemptComesSoonAfterTheReservationEnds() {
		String reserved = LockValues.reserved(ID, NOW_MICROS);
		assertThat(busy(reserved, 1050).retryAfter(true, true)).isBetween(Duration.ofMillis(50), Duration.ofMillis(52));
		assertThat(busy(reserved, 950).retryAfter(true, true)).isLessThan(Duration.ofMillis(2));
	}

}
