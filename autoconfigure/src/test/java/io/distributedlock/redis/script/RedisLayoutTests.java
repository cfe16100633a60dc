package io.distributedlock.redis.script;

import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.util.JedisClusterCRC16;

import io.distributedlock.LockKey;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.redis.LockValues;
import io.distributedlock.redis.script.RedisLayout.State;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests of format 1: a change of any name here is another format.
 */
@Isolated("sets the default locale")
class RedisLayoutTests {

	private static final LockKey KEY = LockKey.of("payments", "42");

	private final RedisLayout layout = new RedisLayout("shop");

	@Test
	void namesAreThoseOfFormatOne() {
		RedisLockKeys keys = this.layout.keys(KEY);
		assertThat(RedisLayout.FORMAT.text()).isEqualTo("1");
		assertThat(keys.name()).isEqualTo("{shop:b23}:lock:payments:42");
		assertThat(keys.lock()).asString(StandardCharsets.UTF_8).isEqualTo(keys.name());
		assertThat(keys.lastOrder()).asString(StandardCharsets.UTF_8).isEqualTo("{shop:b23}:last-order");
		assertThat(this.layout.lock(KEY)).isEqualTo(keys.lock());
		assertThat(this.layout.format()).asString(StandardCharsets.UTF_8).isEqualTo("{shop:b00}:format");
		assertThat(this.layout.channelPrefix()).isEqualTo("shop:notify:");
	}

	@Test
	void constantsOfScriptsAreThoseOfFormatOne() {
		assertThat(RedisLayout.scriptConstants()).isEqualTo("""
				local ID_LENGTH, STATE, CREATED_START, CREATED_END = 32, 33, 34, 49
				local FLAG, BEHIND_FLAG, BEHIND_SCORE = STATE, CREATED_START, CREATED_END + 1
				local RESERVED_HEADER_LENGTH, LABEL_LENGTH_START, HELD_HEADER_LENGTH = 49, 60, 62
				local SCORE_LENGTH, ENTRY_LENGTH, LONGEST_QUEUE = 16, 48, 24000
				local HELD, RESERVED, KEPT, SHARED = 'H', 'R', 'K', 'S'
				local ORDER_MEMBER = 'order'
				local LONGEST_RESERVATION_MILLIS, RESERVATION_EXPIRY_MILLIS, POLL_INTERVAL_MILLIS = 200, 1100, 1000
				local OUT_OF_MEMORY = '^[^%u]*OOM '
				local SHARED_HEADER_LENGTH, TURN_MICROS, LONGEST_TURN_MICROS = 65, 100000, 3000000
				""");
	}

	@Test
	void constantsOfScriptsDoNotDependOnTheLocale() {
		String expected = RedisLayout.scriptConstants();
		Locale before = Locale.getDefault();
		try {
			Locale.setDefault(Locale.forLanguageTag("ar-EG-u-nu-arab"));
			assertThat(RedisLayout.scriptConstants()).isEqualTo(expected);
		}
		finally {
			Locale.setDefault(before);
		}
	}

	@Test
	void labelFollowsItsLengthInBytes() {
		assertThat(RedisLayout.label("vm:1")).asString(StandardCharsets.UTF_8).isEqualTo("004vm:1");
		assertThat(RedisLayout.label("ü".repeat(255))).asString(StandardCharsets.UTF_8).startsWith("510ü");
		assertThat(LockValues.held("o", 1, 2, "vm:1")).isEqualTo("oH12004vm:1");
	}

	@Test
	void idsHaveTheLengthOfTheLayout() {
		assertThat(OwnerId.random().text()).hasSize(RedisLayout.ID_LENGTH);
	}

	@ParameterizedTest
	@ValueSource(strings = { "a{b}c", "{}", "}{", "plain" })
	void keysOfALockShareASlotWhateverItsKey(String part) {
		RedisLockKeys keys = this.layout.keys(LockKey.of("lock", part));
		assertThat(JedisClusterCRC16.getSlot(keys.lastOrder())).isEqualTo(JedisClusterCRC16.getSlot(keys.lock()));
	}

	@ParameterizedTest
	@ValueSource(strings = { "a{b}c", "{}", "lock:", "plain" })
	void nameOfALockLeadsToItsOtherKeys(String part) {
		RedisLockKeys keys = this.layout.keys(LockKey.of("lock", part));
		RedisLockKeys again = this.layout.keys(keys.name());
		assertThat(again.lock()).isEqualTo(keys.lock());
		assertThat(again.lastOrder()).isEqualTo(keys.lastOrder());
	}

	@Test
	void locksAreSpreadOverAllBuckets() {
		Set<Integer> buckets = new HashSet<>();
		IntStream.range(0, 10_000)
			.forEach((number) -> buckets.add(RedisLayout.bucket(LockKey.of("lock", Integer.toString(number)))));
		assertThat(buckets).hasSize(RedisLayout.BUCKETS)
			.allSatisfy((bucket) -> assertThat(bucket).isBetween(0, RedisLayout.BUCKETS - 1));
	}

	@Test
	void longKeysAreShortenedAndStayDifferent() {
		String text = "x".repeat(2000);
		RedisLockKeys first = this.layout.keys(LockKey.of("lock", text));
		assertThat(first.name()).hasSizeLessThan(600)
			.isNotEqualTo(this.layout.keys(LockKey.of("lock", text + "x")).name());
	}

	@Test
	void stateIsTheCharacterAfterTheId() {
		String id = OwnerId.random().text();
		assertThat(State.HELD.isOf(LockValues.held(id, 1_700_000_000_000_000L, 1_700_000_000, "vm:1"))).isTrue();
		assertThat(State.RESERVED.isOf(LockValues.reserved(id, 1_700_000_000_000_000L))).isTrue();
		assertThat(State.values()).noneMatch((state) -> state.isOf(id) || state.isOf(id + "X") || state.isOf(""));
	}

}
