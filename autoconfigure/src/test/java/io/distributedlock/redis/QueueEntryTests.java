package io.distributedlock.redis;

import java.util.List;

import org.junit.jupiter.api.Test;

import io.distributedlock.provider.OwnerId;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.redis.script.ScriptReply;

import static org.assertj.core.api.Assertions.assertThat;

class QueueEntryTests {

	private static final long CREATED = 1_700_000_000_000_000L;

	private static final long LATER = CREATED + 1_000_000;

	private final QueueEntry entry = new QueueEntry();

	/** Updates the entry with the reply of a lock whose value was created at a time. */
	private boolean update(long created, long score, boolean gone) {
		return update(created, score, gone, LATER);
	}

	private boolean update(long created, long score, boolean gone, long micros) {
		byte[] header = RedisLayout.bytes(LockValues.held(OwnerId.random().text(), created, 1_700_000_000, "vm:1"));
		return this.entry.update(
				new AttemptReply(new ScriptReply(List.of(0L, header, 30_000L, micros, score, gone ? 1L : 0L), true)));
	}

	@Test
	void entryThatIsGoneWhileItsValueLastsHasMissedAReservation() {
		assertThat(update(CREATED, CREATED + 7, false)).isFalse();
		assertThat(update(CREATED, CREATED + 7, false)).isFalse();
		assertThat(update(CREATED, CREATED + 7, true)).isTrue();
		assertThat(this.entry.score()).isEqualTo(CREATED + 7);
	}

	@Test
	void entryThatEndedWithItsValueHasMissedNone() {
		update(CREATED, CREATED + 7, false);
		assertThat(update(LATER, CREATED + 7, true)).isFalse();
		assertThat(update(LATER, CREATED + 7, true)).as("missed in the next value").isTrue();
	}

	@Test
	void entryOfAReleaseIsYoungerThanItsValue() {
		this.entry.set(CREATED + 7);
		assertThat(update(CREATED, CREATED + 7, true)).isTrue();
		this.entry.set(CREATED + 7);
		assertThat(update(LATER, CREATED + 7, true)).isFalse();
	}

	@Test
	void entryThatIsGoneAfterTheLongestTurnMayHaveHadNoNotification() {
		update(CREATED, CREATED + 7, false, LATER);
		assertThat(update(CREATED, CREATED + 7, true, LATER + 2_999_999)).isTrue();
		assertThat(update(CREATED, CREATED + 7, true, LATER + 2_999_999 + 3_000_000)).isFalse();
	}

	@Test
	void processThatCouldNotEnterKeepsItsScore() {
		update(CREATED, CREATED + 7, false);
		assertThat(update(CREATED, 0, false)).isFalse();
		assertThat(this.entry.score()).isEqualTo(CREATED + 7);
	}

}
