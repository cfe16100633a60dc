package io.distributedlock.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.distributedlock.FencingToken;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class FencedValuesTests {

	private static final String NAME = "price of seat 13A";

	private static final Duration RETENTION = Duration.ofMinutes(10);

	/** Beyond 2^53, where numbers of Lua cannot distinguish neighbours. */
	private static final FencingToken EARLIER = FencingToken.of(1_838_359_045_148_048L, 0);

	private static final FencingToken LATER = FencingToken.of(EARLIER.order(), 1);

	private static LettuceConnectionFactory factory;

	private static StringRedisTemplate redis;

	private final FencedValues values = new FencedValues(redis, RETENTION);

	@BeforeAll
	static void start() {
		factory = TestRedis.lettuce(TestRedis.port());
		redis = new StringRedisTemplate(factory);
	}

	@AfterAll
	static void stop() {
		factory.destroy();
	}

	@BeforeEach
	void empty() {
		try (RedisConnection connection = redis.getRequiredConnectionFactory().getConnection()) {
			connection.serverCommands().flushAll();
		}
	}

	@Test
	void firstWritePasses() {
		this.values.set(NAME, "10", EARLIER);
		assertThat(this.values.get(NAME)).isEqualTo("10");
	}

	@Test
	void holderMayWriteAgainWithItsToken() {
		this.values.set(NAME, "10", EARLIER);
		this.values.set(NAME, "11", EARLIER);
		assertThat(this.values.get(NAME)).isEqualTo("11");
	}

	@Test
	void laterHolderMayWrite() {
		this.values.set(NAME, "10", EARLIER);
		this.values.set(NAME, "12", LATER);
		assertThat(this.values.get(NAME)).isEqualTo("12");
	}

	@Test
	void lateWriteOfAnEarlierHolderIsRefused() {
		this.values.set(NAME, "12", LATER);
		assertRefused(EARLIER);
		assertThat(this.values.get(NAME)).isEqualTo("12");
	}

	@Test
	void refusedWriteDoesNotLowerTheFence() {
		this.values.set(NAME, "12", LATER);
		assertRefused(EARLIER);
		assertRefused(EARLIER);
		this.values.set(NAME, "13", LATER);
		assertThat(this.values.get(NAME)).isEqualTo("13");
	}

	@Test
	void tokenWithMoreDigitsIsTheLaterOne() {
		this.values.set(NAME, "10", new FencingToken(999));
		this.values.set(NAME, "11", new FencingToken(1000));
		assertRefused(new FencingToken(999));
		assertThat(this.values.get(NAME)).isEqualTo("11");
	}

	@Test
	void lateWriteIsRefusedAlsoAfterTheValueHasExpired() {
		this.values.set(NAME, "12", LATER, Duration.ofMillis(50));
		Awaitility.await().atMost(Duration.ofSeconds(5)).until(() -> this.values.get(NAME) == null);
		assertRefused(EARLIER);
		assertThat(this.values.get(NAME)).isNull();
	}

	@Test
	void lateWriteIsRefusedAlsoAfterTheValueWasDeleted() {
		this.values.set(NAME, "12", LATER);
		assertThat(redis.delete("{" + NAME + "}")).isTrue();
		assertRefused(EARLIER);
		assertThat(this.values.get(NAME)).isNull();
	}

	@Test
	void nextWriteDecidesHowLongTheValueLasts() {
		this.values.set(NAME, "10", EARLIER, Duration.ofMinutes(1));
		assertThat(redis.getExpire("{" + NAME + "}")).isBetween(50L, 60L);
		this.values.set(NAME, "11", EARLIER);
		assertThat(redis.getExpire("{" + NAME + "}")).isEqualTo(-1);
	}

	@Test
	void fencesGoWhenNoLateWriteCanComeAnyMore() {
		for (int seat = 0; seat < 100; seat++) {
			this.values.set("price of seat " + seat, "10", EARLIER, Duration.ofMinutes(1));
		}
		assertThat(redis.keys("*")).hasSize(200)
			.allSatisfy((key) -> assertThat(redis.getExpire(key, TimeUnit.MILLISECONDS)).isBetween(1L,
					RETENTION.toMillis()));
	}

	@Test
	void valuesDoNotShareAFence() {
		this.values.set(NAME, "12", LATER);
		this.values.set("another", "10", EARLIER);
		assertThat(List.of(this.values.get(NAME), this.values.get("another"))).containsExactly("12", "10");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "{", "}", "a{b}c" })
	void namesHaveNoBracesWhichWouldPartValueAndFenceInACluster(String name) {
		assertThatIllegalArgumentException().isThrownBy(() -> this.values.set(name, "10", EARLIER));
	}

	@Test
	void valueIsComparedOnlyIfNoLaterHolderHasWritten() {
		assertThat(this.values.compareAndSet(NAME, "9", "10", EARLIER, null)).isFalse();
		assertThat(this.values.compareAndSet(NAME, null, "10", EARLIER, null)).isTrue();
		assertThat(this.values.compareAndSet(NAME, null, "11", EARLIER, null)).isFalse();
		assertThat(this.values.compareAndSet(NAME, "10", "11", LATER, Duration.ofMinutes(1))).isTrue();
		assertThat(redis.getExpire("{" + NAME + "}")).isBetween(50L, 60L);
		assertThatExceptionOfType(StaleWriteException.class)
			.isThrownBy(() -> this.values.compareAndSet(NAME, "11", "late", EARLIER, null));
		assertThat(this.values.get(NAME)).isEqualTo("11");
	}

	@Test
	void comparisonThatFailsRaisesTheFenceToo() {
		assertThat(this.values.compareAndSet(NAME, "9", "10", LATER, null)).isFalse();
		assertRefused(EARLIER);
		assertThat(this.values.get(NAME)).isNull();
	}

	private void assertRefused(FencingToken token) {
		assertThatExceptionOfType(StaleWriteException.class).isThrownBy(() -> this.values.set(NAME, "late", token))
			.withMessageContaining(token.toString());
	}

}
