package io.distributedlock.jdbc.dialect;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.distributedlock.jdbc.dialect.LockRow.QueueEntry;
import io.distributedlock.provider.OwnerId;

import static org.assertj.core.api.Assertions.assertThat;

class LockRowTests {

	private static final String PROCESS = "p1";

	private static final String OTHER = "p2";

	private static final long NOW = 1_000_000;

	private static final long SECOND = 1_000_000;

	private static LockRow held(@Nullable QueueEntry first, @Nullable QueueEntry second) {
		return new LockRow("rival", 7, "host", 10, SECOND, NOW, first, second);
	}

	private static LockRow row(String owner, long remainingMicros) {
		return new LockRow(owner, 7, "host", 10, remainingMicros, NOW, null, null);
	}

	private static RowAttempt attempt(boolean willWait, @Nullable Long sinceMicros) {
		return new RowAttempt("key", "owner", SECOND, "host", PROCESS, willWait, sinceMicros);
	}

	private static QueueEntry entry(String process, long sinceMicros) {
		return new QueueEntry(process, sinceMicros, SECOND);
	}

	private static QueueEntry halfOver(String process, long sinceMicros) {
		return new QueueEntry(process, sinceMicros, SECOND / 2 - 1);
	}

	@Test
	void freeRowIsAcquirableWhateverItsExpiry() {
		assertThat(row(LockRow.FREE, SECOND).isAcquirableBy(PROCESS)).isTrue();
		assertThat(row(LockRow.FREE, -SECOND).isAcquirableBy(PROCESS)).isTrue();
	}

	@Test
	void heldRowIsAcquirableOnceItHasExpired() {
		assertThat(row("rival", 1).isAcquirableBy(PROCESS)).isFalse();
		assertThat(row("rival", 0).isAcquirableBy(PROCESS)).isTrue();
	}

	/** As a later version may store it. */
	@Test
	void rowInAStateThatIsNotKnownIsBusyUntilItExpires() {
		LockRow unknown = row("waiting.:" + LockRow.NONE, 1);
		assertThat(unknown.isAcquirableBy(PROCESS)).isFalse();
		assertThat(unknown.ownerId()).isNull();
		assertThat(row("waiting.:" + LockRow.NONE, 0).isAcquirableBy(PROCESS)).isTrue();
	}

	@Test
	void everyStateHasTheSameLength() {
		OwnerId owner = OwnerId.random();
		assertThat(List.of(LockRow.FREE, LockRow.KEPT, LockRow.RESERVED + owner.text(), LockRow.heldBy(owner),
				LockRow.lockedBy(owner)))
			.allMatch((text) -> text.length() == 41);
		assertThat(row(LockRow.heldBy(owner), 1).ownerId()).isEqualTo(owner);
		assertThat(row(LockRow.lockedBy(owner), 1).ownerId()).isEqualTo(owner);
		assertThat(row(LockRow.RESERVED + owner.text(), 1).ownerId()).isNull();
	}

	@Test
	void reservedRowIsAcquirableByItsProcessAlone() {
		assertThat(row("reserved:p1", SECOND).isAcquirableBy(PROCESS)).isTrue();
		assertThat(row("reserved:p1", SECOND).isAcquirableBy(OTHER)).isFalse();
		assertThat(row("reserved:p1", 0).isAcquirableBy(OTHER)).isTrue();
	}

	@Test
	void holderIsDescribedOnlyWhileTheRowIsHeld() {
		assertThat(row(LockRow.FREE, 0).describeHolder()).isNull();
		assertThat(row("reserved:p1", SECOND).describeHolder()).isNull();
		assertThat(row("rival", -5).describeHolder()).isNotNull()
			.satisfies((holder) -> assertThat(holder.remaining()).isZero())
			.satisfies((holder) -> assertThat(holder.heldFor()).isEqualTo(Duration.ofNanos(10_000)));
	}

	@Test
	void firstRefusalIsThatOfTheEntryElseNow() {
		LockRow row = held(entry(OTHER, 5), entry(PROCESS, 6));
		assertThat(row.sinceMicros(OTHER)).isEqualTo(5);
		assertThat(row.sinceMicros(PROCESS)).isEqualTo(6);
		assertThat(row.sinceMicros("p3")).isEqualTo(NOW);
		assertThat(row.isQueued(PROCESS)).isTrue();
		assertThat(row.isQueued("p3")).isFalse();
	}

	@Test
	void attemptChangesARowThatItAcquiresOrHolds() {
		assertThat(row(LockRow.FREE, SECOND).isChangedBy(attempt(false, null), SECOND)).isTrue();
		assertThat(row("owner", SECOND).isChangedBy(attempt(false, null), SECOND)).isTrue();
		assertThat(row("rival", SECOND).isChangedBy(attempt(false, null), SECOND)).isFalse();
	}

	@Test
	void attemptThatDoesNotWaitEntersNoQueue() {
		assertThat(held(null, null).isChangedBy(attempt(false, 5L), SECOND)).isFalse();
		assertThat(held(null, null).isChangedBy(attempt(true, null), SECOND)).isFalse();
		assertThat(held(null, null).isChangedBy(attempt(true, 5L), SECOND)).isTrue();
	}

	@Test
	void entryIsRefreshedOnceHalfItsTimeIsOver() {
		assertThat(held(entry(PROCESS, 5), null).isChangedBy(attempt(true, 5L), SECOND)).isFalse();
		assertThat(held(halfOver(PROCESS, 5), null).isChangedBy(attempt(true, 5L), SECOND)).isTrue();
		assertThat(held(entry(OTHER, 4), entry(PROCESS, 5)).isChangedBy(attempt(true, 5L), SECOND)).isFalse();
		assertThat(held(entry(OTHER, 4), halfOver(PROCESS, 5)).isChangedBy(attempt(true, 5L), SECOND)).isTrue();
	}

	@Test
	void attemptDisplacesOnlyALaterContender() {
		assertThat(held(entry(OTHER, 6), entry("p3", 4)).isChangedBy(attempt(true, 5L), SECOND)).isTrue();
		assertThat(held(entry(OTHER, 4), null).isChangedBy(attempt(true, 5L), SECOND)).isTrue();
		assertThat(held(entry(OTHER, 4), entry("p3", 7)).isChangedBy(attempt(true, 5L), SECOND)).isTrue();
		assertThat(held(entry(OTHER, 3), entry("p3", 4)).isChangedBy(attempt(true, 5L), SECOND)).isFalse();
	}

	@Test
	void attemptDisplacesNoContenderThatWasRefusedALittleLater() {
		assertThat(held(entry(OTHER, 0), entry("p3", 11)).isChangedBy(attempt(true, 5L), SECOND)).isTrue();
		assertThat(held(entry(OTHER, 0), entry("p3", 10)).isChangedBy(attempt(true, 5L), SECOND)).isFalse();
	}

	@Test
	void contenderIsBehindTheLastOneThatWasRefusedBeforeIt() {
		assertThat(held(null, null).behindMicros(9)).isZero();
		assertThat(held(entry(OTHER, 4), null).behindMicros(9)).isEqualTo(5);
		assertThat(held(entry(OTHER, 4), entry("p3", 6)).behindMicros(9)).isEqualTo(3);
		assertThat(held(entry(OTHER, 4), entry("p3", 60)).behindMicros(9)).isEqualTo(5);
		assertThat(held(entry(OTHER, 40), entry("p3", 60)).behindMicros(9)).isZero();
	}

}
