package io.distributedlock.sample.fencing;

import java.io.IOException;
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
import org.springframework.data.redis.core.StringRedisTemplate;

import io.distributedlock.FencingToken;
import io.distributedlock.sample.control.RunningRedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class FencedValuesTests {

	private static final String NAME = "price of seat 13A";

	private static final Duration RETENTION = Duration.ofMinutes(10);

	/** Beyond 2^53, where numbers of Lua cannot distinguish neighbours. */
	private static final FencingToken EARLIER = FencingToken.of(1_838_359_045_148_048L, 0);

	private static final FencingToken LATER = FencingToken.of(EARLIER.order(), 1);

	private static RunningRedis server;

	private static StringRedisTemplate redis;

	private final FencedValues values = new FencedValues(redis, RETENTION);

	@BeforeAll
	static void start() throws IOException {
		server = new RunningRedis();
		redis = server.template();
	}

	@AfterAll
	static void stop() {
		server.close();
	}

	@BeforeEach
	void empty() {
		try (RedisConnection connection = redis.getRequiredConnectionFactory().getConnection()) {
			connection.serverCommands().flushAll();
		}
	}

	@Test
	void firstWritePasses() {
		this.values.write(NAME, "10", EARLIER);
		assertThat(this.values.read(NAME)).isEqualTo("10");
	}

	@Test
	void holderMayWriteAgainWithItsToken() {
		this.values.write(NAME, "10", EARLIER);
		this.values.write(NAME, "11", EARLIER);
		assertThat(this.values.read(NAME)).isEqualTo("11");
	}

	@Test
	void laterHolderMayWrite() {
		this.values.write(NAME, "10", EARLIER);
		this.values.write(NAME, "12", LATER);
		assertThat(this.values.read(NAME)).isEqualTo("12");
	}

	@Test
	void lateWriteOfAnEarlierHolderIsRefused() {
		this.values.write(NAME, "12", LATER);
		assertRefused(EARLIER);
		assertThat(this.values.read(NAME)).isEqualTo("12");
	}

	@Test
	void refusedWriteDoesNotLowerTheFence() {
		this.values.write(NAME, "12", LATER);
		assertRefused(EARLIER);
		assertRefused(EARLIER);
		this.values.write(NAME, "13", LATER);
		assertThat(this.values.read(NAME)).isEqualTo("13");
	}

	@Test
	void tokenWithMoreDigitsIsTheLaterOne() {
		this.values.write(NAME, "10", new FencingToken(999));
		this.values.write(NAME, "11", new FencingToken(1000));
		assertRefused(new FencingToken(999));
		assertThat(this.values.read(NAME)).isEqualTo("11");
	}

	@Test
	void lateWriteIsRefusedAlsoAfterTheValueHasExpired() {
		this.values.write(NAME, "12", LATER, Duration.ofMillis(50));
		Awaitility.await().atMost(Duration.ofSeconds(5)).until(() -> this.values.read(NAME) == null);
		assertRefused(EARLIER);
		assertThat(this.values.read(NAME)).isNull();
	}

	@Test
	void lateWriteIsRefusedAlsoAfterTheValueWasDeleted() {
		this.values.write(NAME, "12", LATER);
		assertThat(redis.delete("{" + NAME + "}")).isTrue();
		assertRefused(EARLIER);
		assertThat(this.values.read(NAME)).isNull();
	}

	@Test
	void nextWriteDecidesHowLongTheValueLasts() {
		this.values.write(NAME, "10", EARLIER, Duration.ofMinutes(1));
		assertThat(redis.getExpire("{" + NAME + "}")).isBetween(50L, 60L);
		this.values.write(NAME, "11", EARLIER);
		assertThat(redis.getExpire("{" + NAME + "}")).isEqualTo(-1);
	}

	@Test
	void fencesGoWhenNoLateWriteCanComeAnyMore() {
		for (int seat = 0; seat < 100; seat++) {
			this.values.write("price of seat " + seat, "10", EARLIER, Duration.ofMinutes(1));
		}
		assertThat(redis.keys("*")).hasSize(200)
			.allSatisfy((key) -> assertThat(redis.getExpire(key, TimeUnit.MILLISECONDS)).isBetween(1L,
					RETENTION.toMillis()));
	}

	@Test
	void valuesDoNotShareAFence() {
		this.values.write(NAME, "12", LATER);
		this.values.write("another", "10", EARLIER);
		assertThat(List.of(this.values.read(NAME), this.values.read("another"))).containsExactly("12", "10");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "{", "}", "a{b}c" })
	void namesHaveNoBracesWhichWouldPartValueAndFenceInACluster(String name) {
		assertThatIllegalArgumentException().isThrownBy(() -> this.values.write(name, "10", EARLIER));
	}

	private void assertRefused(FencingToken token) {
		assertThatExceptionOfType(StaleWriteException.class).isThrownBy(() -> this.values.write(NAME, "late", token))
			.withMessageContaining(token.toString());
	}

}
