package io.distributedlock.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.redis.script.RedisErrors;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.redis.script.ReplyHandler;
import io.distributedlock.redis.script.ScriptCall;
import io.distributedlock.redis.script.ScriptExecutor;
import io.distributedlock.redis.script.ScriptReply;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests with a client that replies when the test says so.
 */
class RedisRenewalTests {

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final Duration TIMEOUT = Duration.ofMinutes(1);

	private final RedisLayout layout = new RedisLayout("renewal");

	private final TestExecutor executor = new TestExecutor();

	private final LockTimer timer = new LockTimer("redis-timer");

	@AfterEach
	void stop() {
		this.timer.close();
	}

	private RedisRenewal renewal(boolean cluster) {
		return new RedisRenewal(this.executor, this.layout, this.timer, cluster);
	}

	/** Returns a key of a bucket. */
	private static LockKey key(int bucket) {
		return IntStream.range(0, 10_000)
			.mapToObj((number) -> LockKey.of("orders", Integer.toString(number)))
			.filter((key) -> RedisLayout.bucket(key) == bucket)
			.findFirst()
			.orElseThrow();
	}

	private static LockGrant grant(int bucket) {
		return new LockGrant(key(bucket), OwnerId.random(), 1, LEASE);
	}

	@Test
	void nodeOfAClusterIsTheMasterOrTheBucketIfThatIsNotKnown() {
		RedisRenewal renewal = renewal(true);
		assertThat(renewal.node(key(3))).isEqualTo(3);
		this.executor.nodes.put(this.executor.slot(this.layout.lastOrder(3)), "master");
		this.executor.nodes.put(this.executor.slot(this.layout.lastOrder(4)), "master");
		assertThat(renewal.node(key(3))).isEqualTo("master").isEqualTo(renewal.node(key(4)));
		assertThat(renewal.node(key(5))).isEqualTo(5);
	}

	@Test
	void singleServerIsOneNode() {
		RedisRenewal renewal = renewal(false);
		assertThat(renewal.node(key(3))).isEqualTo(renewal.node(key(4)));
	}

	@Test
	void batchOfSeveralBucketsEndsWithItsLastPart() {
		LockGrant first = grant(3);
		LockGrant second = grant(4);
		StoreCall<Map<LockGrant, RenewalOutcome>> call = renewal(true).renew(Map.of(first, LEASE, second, LEASE),
				TIMEOUT);
		assertThat(this.executor.operations).hasSize(2);
		this.executor.operations.get(0).reply(renewed());
		assertThat(call.isDone()).isFalse();
		this.executor.operations.get(1).fail(RedisErrors.notCalledInTime());
		assertThat(call.result()).hasSize(1).containsValue(RenewalOutcome.RENEWED);
	}

	@Test
	void partWithoutAnAnswerTakesNoOtherAlong() {
		this.executor.replies = 1;
		StoreCall<Map<LockGrant, RenewalOutcome>> call = renewal(true).renew(Map.of(grant(3), LEASE, grant(4), LEASE),
				Duration.ofMillis(500));
		await().until(call::isDone);
		assertThat(call.result()).hasSize(1).containsValue(RenewalOutcome.RENEWED);
	}

	@Test
	void batchWhosePartsAllFailIsAFailure() {
		StoreCall<Map<LockGrant, RenewalOutcome>> call = renewal(true).renew(Map.of(grant(3), LEASE, grant(4), LEASE),
				TIMEOUT);
		this.executor.operations.forEach((operation) -> operation.fail(RedisErrors.notCalledInTime()));
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(call::result);
	}

	@Test
	void failureOfWhatFollowsARenewalLeavesNothingUnderWay() {
		StoreCall<Map<LockGrant, RenewalOutcome>> call = renewal(true).renew(Map.of(grant(3), LEASE, grant(4), LEASE),
				TIMEOUT);
		call.onDone(() -> {
			throw new IllegalStateException("follows");
		});
		this.executor.operations.forEach((operation) -> operation.reply(renewed()));
		assertThat(call.isDone()).isTrue();
		assertThat(call.result()).hasSize(2);
	}

	@Test
	void unknownReplyFailsTheCall() {
		StoreCall<Map<LockGrant, RenewalOutcome>> call = renewal(false).renew(Map.of(grant(3), LEASE), TIMEOUT);
		this.executor.operations.get(0).reply(new ScriptReply(List.of(17L, new byte[0]), true));
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(call::result);
	}

	private static ScriptReply renewed() {
		return new ScriptReply(List.of(1L, new byte[0]), true);
	}

	private static final class TestExecutor implements ScriptExecutor {

		private final List<ReplyHandler<?>> operations = new ArrayList<>();

		private final Map<Integer, Object> nodes = new HashMap<>();

		/** How many of the first operations are replied to at once. */
		private int replies;

		@Override
		public boolean isBlocking() {
			return false;
		}

		@Override
		public void run(ScriptCall call, CallKind kind, Deadline deadline, ReplyHandler<?> operation) {
			this.operations.add(operation);
			if (this.operations.size() <= this.replies) {
				operation.reply(renewed());
			}
		}

		@Override
		public int slot(byte[] key) {
			return TestCluster.slot(key);
		}

		@Override
		public Object node(int slot) {
			return this.nodes.get(slot);
		}

		@Override
		public Object client() {
			return this;
		}

		@Override
		public void close() {
			// Nothing to end.
		}

	}

}
