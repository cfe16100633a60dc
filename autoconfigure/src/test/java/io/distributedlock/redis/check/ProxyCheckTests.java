package io.distributedlock.redis.check;

import java.util.List;
import java.util.function.Supplier;

import org.junit.jupiter.api.Test;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.redis.TwemproxyTests;
import io.distributedlock.redis.script.RedisErrors;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.redis.script.ScriptReply;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests of the decision from which servers reply; {@link TwemproxyTests} has a real
 * proxy.
 */
class ProxyCheckTests {

	private final ProxyCheck check = new ProxyCheck(new RedisLayout("check"));

	private final Supplier<List<CheckScript>> steps = this.check.ofAll();

	@Test
	void oneServerForAllBucketsPasses() {
		answer("a", "a");
		assertThat(this.steps.get()).isEmpty();
		assertThat(this.check.isDone(0)).isTrue();
	}

	/** As after a restart of the server, or the promotion of a replica. */
	@Test
	void serverThatChangesDuringTheCheckPasses() {
		answer("a", "b");
		answer("b", "b");
		assertThat(this.steps.get()).isEmpty();
		assertThat(this.check.isDone(0)).isTrue();
	}

	@Test
	void severalServersInTwoRoundsAreRefused() {
		answer("a", "b");
		answer("b", "a");
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(this.steps::get)
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.STORE_UNSUITABLE));
		assertThat(this.check.isDone(0)).isFalse();
	}

	@Test
	void attemptAfterARefusalIsCheckedAgain() {
		answer("a", "b");
		answer("a", "b");
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(this.steps::get);
		answer("a", "a");
		assertThat(this.steps.get()).isEmpty();
		assertThat(this.check.isDone(0)).isTrue();
	}

	@Test
	void lateReplyToAnEarlierRoundDoesNotCount() {
		CheckScript late = this.steps.get().get(0);
		answer("a", "b");
		List<CheckScript> second = this.steps.get();
		late.onReply().accept(reply("a"));
		assertThat(this.steps.get()).hasSameSizeAs(second);
	}

	@Test
	void failureWithoutAReplyIsThrown() {
		CheckScript step = this.steps.get().get(0);
		LockProviderException failure = RedisErrors.timedOut(new IllegalStateException("late"));
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> step.onFailure().accept(failure))
			.isSameAs(failure);
	}

	/** Answers a round, whose first step is alone. */
	private void answer(String first, String others) {
		assertThat(this.steps.get()).singleElement().satisfies((step) -> step.onReply().accept(reply(first)));
		assertThat(this.steps.get()).hasSize(RedisLayout.BUCKETS - 1)
			.allSatisfy((step) -> step.onReply().accept(reply(others)));
	}

	private static ScriptReply reply(String runId) {
		return new ScriptReply(List.of(1L, RedisLayout.bytes("run_id:" + runId), 0L), true);
	}

}
