package io.distributedlock.engine.release;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockKey;
import io.distributedlock.engine.release.PendingRelease.Kind;
import io.distributedlock.provider.AnsweredStoreCall;
import io.distributedlock.provider.ReleaseOutcome;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link ReleaseLanes}, over a blocking client: three commands in the first
 * lane and two in the second, of one node two and one.
 */
class ReleaseLanesTests {

	private final ReleaseLanes lanes = new ReleaseLanes(true);

	private int keys;

	private PendingRelease entry(String node, Kind kind) {
		return new PendingRelease(LockKey.of("key", Integer.toString(this.keys++)), node, kind,
				(timeout) -> AnsweredStoreCall.by(() -> ReleaseOutcome.RELEASED), () -> {
				}, Long.MAX_VALUE);
	}

	private PendingRelease added(String node, Kind kind) {
		PendingRelease entry = entry(node, kind);
		this.lanes.add(entry);
		return entry;
	}

	private List<PendingRelease> pollAll(long nowNanos) {
		List<PendingRelease> polled = new ArrayList<>();
		@Nullable PendingRelease next;
		while ((next = this.lanes.poll(nowNanos)) != null) {
			polled.add(next);
		}
		return polled;
	}

	@Test
	void nodeThatHangsLeavesRoomForOthers() {
		for (int i = 0; i < 20; i++) {
			added("hanging", Kind.UNSEEN_GRANT);
			added("hanging", Kind.SEEN_GRANT);
		}
		assertThat(pollAll(0)).hasSize(2);
		PendingRelease healthy = added("healthy", Kind.SEEN_GRANT);
		assertThat(pollAll(0)).containsExactly(healthy);
	}

	@Test
	void twoNodesThatHangTakeTurnsWithTheOthers() {
		for (int i = 0; i < 20; i++) {
			added("hanging", Kind.SEEN_GRANT);
			added("hanging too", Kind.SEEN_GRANT);
		}
		List<PendingRelease> underWay = pollAll(0);
		assertThat(underWay).hasSize(3);
		PendingRelease healthy = added("healthy", Kind.SEEN_GRANT);
		assertThat(pollAll(0)).isEmpty();
		underWay.forEach(this.lanes::ended);
		assertThat(pollAll(0)).hasSize(3).contains(healthy);
	}

	@Test
	void grantThatWasSeenGoesFirstAndFindsRoom() {
		PendingRelease unseen = added("node", Kind.UNSEEN_GRANT);
		added("node", Kind.UNSEEN_GRANT);
		assertThat(pollAll(0)).containsExactly(unseen);
		PendingRelease seen = added("node", Kind.SEEN_GRANT);
		assertThat(pollAll(0)).containsExactly(seen);
	}

	@Test
	void repetitionsDelayNoFirstAttemptAndNoOtherNode() {
		List<PendingRelease> hanging = List.of(entry("hanging", Kind.SEEN_GRANT), entry("hanging", Kind.SEEN_GRANT));
		hanging.forEach(this.lanes::add);
		assertThat(pollAll(0)).hasSize(2);
		hanging.forEach((entry) -> {
			this.lanes.ended(entry);
			entry.pauseFrom(0);
			this.lanes.repeat(entry);
		});
		assertThat(pollAll(0)).isEmpty();
		assertThat(this.lanes.nextRepeated()).isIn(hanging);
		long later = hanging.get(0).dueNanos;
		assertThat(pollAll(later)).hasSize(1);
		assertThat(this.lanes.nextRepeated()).as("the second one waits for the first").isNull();
		PendingRelease other = added("healthy", Kind.UNSEEN_GRANT);
		assertThat(pollAll(later)).containsExactly(other);
	}

	@Test
	void removedEntryIsNotSent() {
		PendingRelease removed = added("node", Kind.SEEN_GRANT);
		this.lanes.remove(removed);
		assertThat(pollAll(0)).isEmpty();
		assertThat(this.lanes.areAllSent()).isTrue();
	}

	@Test
	void allAreSentOnceNoneIsUnderWay() {
		PendingRelease only = added("node", Kind.SEEN_GRANT);
		assertThat(this.lanes.areAllSent()).isFalse();
		assertThat(pollAll(0)).containsExactly(only);
		assertThat(this.lanes.areAllSent()).isFalse();
		this.lanes.ended(only);
		assertThat(this.lanes.areAllSent()).isTrue();
	}

}
