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
 * Tests for {@link NodeReleases}, over a blocking client: two commands that were never
 * sent, and one that is repeated.
 */
class NodeReleasesTests {

	private final NodeReleases node = new NodeReleases(true);

	private int keys;

	private PendingRelease added(Kind kind) {
		PendingRelease entry = new PendingRelease(LockKey.of("key", Integer.toString(this.keys++)), "node", kind,
				(timeout) -> AnsweredStoreCall.of(ReleaseOutcome.RELEASED), () -> {
				}, Long.MAX_VALUE);
		this.node.add(entry);
		return entry;
	}

	private List<PendingRelease> pollAll(long nowNanos) {
		List<PendingRelease> polled = new ArrayList<>();
		@Nullable PendingRelease next;
		while ((next = this.node.poll(nowNanos)) != null) {
			polled.add(next);
		}
		return polled;
	}

	@Test
	void nodeThatHangsOccupiesNoMoreThanItsShare() {
		for (int i = 0; i < 20; i++) {
			added(Kind.UNSEEN_GRANT);
			added(Kind.SEEN_GRANT);
		}
		assertThat(pollAll(0)).hasSize(2);
	}

	@Test
	void grantThatWasSeenGoesFirstAndFindsRoom() {
		PendingRelease unseen = added(Kind.UNSEEN_GRANT);
		added(Kind.UNSEEN_GRANT);
		assertThat(pollAll(0)).containsExactly(unseen);
		PendingRelease seen = added(Kind.SEEN_GRANT);
		assertThat(pollAll(0)).containsExactly(seen);
	}

	@Test
	void repetitionsDelayNoFirstAttempt() {
		added(Kind.SEEN_GRANT);
		added(Kind.SEEN_GRANT);
		List<PendingRelease> hanging = pollAll(0);
		hanging.forEach((entry) -> {
			this.node.ended(entry);
			entry.pauseAfter(ReleaseOutcome.NOT_HELD, 0);
			this.node.add(entry);
		});
		assertThat(pollAll(0)).isEmpty();
		assertThat(this.node.nextRepeated()).isIn(hanging);
		long later = hanging.get(0).dueNanos;
		assertThat(pollAll(later)).hasSize(1);
		assertThat(this.node.nextRepeated()).as("the second one waits for the first").isNull();
		PendingRelease other = added(Kind.UNSEEN_GRANT);
		assertThat(pollAll(later)).containsExactly(other);
	}

	@Test
	void pausesBetweenAnswersGrow() {
		PendingRelease entry = added(Kind.UNSEEN_GRANT);
		long pause = 0;
		for (int i = 0; i < 12; i++) {
			entry.pauseAfter(ReleaseOutcome.NOT_HELD, 0);
			assertThat(entry.dueNanos).isGreaterThanOrEqualTo(pause);
			pause = entry.dueNanos;
		}
		assertThat(pause).isEqualTo(30_000_000_000L);
	}

	@Test
	void entryWaitsWhereItIsRemovedFrom() {
		PendingRelease entry = added(Kind.SEEN_GRANT);
		assertThat(entry.waitsIn).containsExactly(entry);
		assertThat(pollAll(0)).containsExactly(entry);
		assertThat(entry.isUnderWay()).isTrue();
	}

	@Test
	void allAreSentOnceNoneIsUnderWay() {
		PendingRelease only = added(Kind.SEEN_GRANT);
		assertThat(this.node.areAllSent()).isFalse();
		assertThat(pollAll(0)).containsExactly(only);
		assertThat(this.node.areAllSent()).isFalse();
		this.node.ended(only);
		assertThat(this.node.areAllSent()).isTrue();
		assertThat(this.node.isEmpty()).isTrue();
	}

}
