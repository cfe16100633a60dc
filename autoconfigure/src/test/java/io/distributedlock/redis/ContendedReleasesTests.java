package io.distributedlock.redis;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import io.distributedlock.redis.ContendedReleases.KeptEntry;
import io.distributedlock.redis.script.RedisLayout;

import static org.assertj.core.api.Assertions.assertThat;

class ContendedReleasesTests {

	private static final String LOCK = "lock";

	private final AtomicLong nanos = new AtomicLong();

	private final ContendedReleases releases = new ContendedReleases(this.nanos::get);

	private void release(long score) {
		this.releases.recordContended(LOCK, score, true, this.releases.removals());
	}

	private void pass(Duration time) {
		this.nanos.addAndGet(time.toNanos());
	}

	@Test
	void entryIsKeptOnceTheProcessHasAcquiredTheLockAgain() {
		assertThat(this.releases.shouldKeepEntry(LOCK)).isFalse();
		release(0);
		assertThat(this.releases.shouldKeepEntry(LOCK)).isFalse();
		assertThat(this.releases.claimEntry(LOCK)).isEqualTo(new KeptEntry(0, RedisLayout.RESERVATION, true));
		assertThat(this.releases.shouldKeepEntry(LOCK)).as("a release without a known grant").isFalse();
		this.releases.recordGrant(LOCK);
		assertThat(this.releases.shouldKeepEntry(LOCK)).isTrue();
		release(7);
		assertThat(this.releases.shouldKeepEntry(LOCK)).isFalse();
	}

	@Test
	void entryIsClaimedOnce() {
		release(7);
		assertThat(this.releases.claimEntry(LOCK)).isEqualTo(new KeptEntry(7, RedisLayout.RESERVATION, true));
		assertThat(this.releases.claimEntry(LOCK)).isNull();
	}

	@Test
	void entryTellsTheRestOfTheReservation() {
		release(7);
		pass(RedisLayout.RESERVATION.plusMillis(1));
		assertThat(this.releases.claimEntry(LOCK)).isEqualTo(new KeptEntry(7, Duration.ofMillis(-1), true));
	}

	@Test
	void oldEntryIsForgotten() {
		release(7);
		pass(RedisLayout.POLL_INTERVAL.plusMillis(1));
		assertThat(this.releases.claimEntry(LOCK)).isNull();
		assertThat(this.releases.shouldKeepEntry(LOCK)).isFalse();
	}

	@Test
	void removedEntryIsNeitherClaimedNorKeptAgain() {
		release(7);
		this.releases.removeEntry(LOCK);
		assertThat(this.releases.claimEntry(LOCK)).isNull();
		assertThat(this.releases.shouldKeepEntry(LOCK)).isFalse();
	}

	@Test
	void entryWhoseNotificationCameBeforeTheReplyIsNotClaimed() {
		long before = this.releases.removals();
		this.releases.removeEntry(LOCK);
		this.releases.recordContended(LOCK, 7, true, before);
		assertThat(this.releases.claimEntry(LOCK)).isEqualTo(new KeptEntry(0, RedisLayout.RESERVATION, true));
	}

	@Test
	void waitLastsFromAReleaseToTheNextGrant() {
		this.releases.recordGrant(LOCK);
		assertThat(this.releases.lastWaitNanos(LOCK)).isZero();
		release(7);
		pass(Duration.ofMillis(30));
		this.releases.claimEntry(LOCK);
		this.releases.recordGrant(LOCK);
		assertThat(this.releases.lastWaitNanos(LOCK)).isEqualTo(Duration.ofMillis(30).toNanos());
		release(7);
		assertThat(this.releases.lastWaitNanos(LOCK)).isEqualTo(Duration.ofMillis(30).toNanos());
	}

	@Test
	void freeLockHasNoEntry() {
		release(7);
		this.releases.recordUncontended(LOCK);
		assertThat(this.releases.claimEntry(LOCK)).isNull();
	}

	@Test
	void furtherLocksReplaceOldOnesOnly() {
		for (int number = 0; number < ContendedReleases.CAPACITY; number++) {
			this.releases.recordContended("other-" + number, 7, true, 0);
		}
		release(7);
		assertThat(this.releases.claimEntry(LOCK)).isNull();
		assertThat(this.releases.claimEntry("other-0")).isNotNull();
		pass(RedisLayout.POLL_INTERVAL.plusMillis(1));
		release(7);
		assertThat(this.releases.claimEntry(LOCK)).isNotNull();
		assertThat(this.releases.claimEntry("other-1")).isNull();
	}

	@Test
	void unclaimedEntriesAreRemovedAtTheEnd() {
		release(7);
		this.releases.recordContended("claimed", 8, true, 0);
		this.releases.claimEntry("claimed");
		this.releases.recordContended("none", 0, true, 0);
		assertThat(this.releases.removeUnclaimed()).containsExactly(LOCK);
		assertThat(this.releases.claimEntry(LOCK)).isNull();
	}

}
