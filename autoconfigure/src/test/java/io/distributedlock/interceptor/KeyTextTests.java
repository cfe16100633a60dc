package io.distributedlock.interceptor;

import java.math.BigDecimal;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.LocalDate;
import java.util.Arrays;
import java.util.Calendar;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TimeZone;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.annotation.DistributedLock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class KeyTextTests {

	private final RecordingLockOperations operations = new RecordingLockOperations();

	private final Values values = new LockedProxies(this.operations).ofClass(new Values());

	@Test
	void optionalCountsAsItsValue() {
		this.values.lock(Optional.of("v"));
		assertThat(this.operations.keys()).containsExactly("Values.lock:v");
		this.values.lock(OptionalLong.of(9));
		assertThat(this.operations.keys()).containsExactly("Values.lock:9");
	}

	@Test
	void enumsCountByNameAndClassesByFullName() {
		this.values.lock(TimeUnit.DAYS);
		assertThat(this.operations.keys()).containsExactly("Values.lock:DAYS");
		this.values.lock(String.class);
		assertThat(this.operations.keys()).containsExactly("Values.lock:java.lang.String");
	}

	@ParameterizedTest
	@MethodSource("refused")
	void valueThatIsNoKeyIsRefusedBeforeAnythingIsLocked(Object value, LockError error) {
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> this.values.lock(value))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(error))
			.withMessageContaining("Values.lock")
			.withMessageContaining("#value");
		assertThat(this.operations.requests()).isEmpty();
		assertThat(this.values.calls()).isZero();
	}

	static Stream<Arguments> refused() {
		return Stream.of(Arguments.of(null, LockError.NULL_KEY), Arguments.of(" ", LockError.BLANK_KEY),
				Arguments.of(Optional.empty(), LockError.NULL_KEY),
				Arguments.of(OptionalLong.empty(), LockError.NULL_KEY), Arguments.of(List.of(), LockError.NO_KEYS),
				Arguments.of(new int[0], LockError.NO_KEYS), Arguments.of(Arrays.asList("a", null), LockError.NULL_KEY),
				Arguments.of(new String[] { "a", null }, LockError.NULL_KEY),
				Arguments.of(List.of("a", ""), LockError.BLANK_KEY),
				Arguments.of(List.of(Optional.empty()), LockError.NULL_KEY),
				Arguments.of(List.of(List.of("a")), LockError.KEY_WITHOUT_TEXT),
				Arguments.of(List.of(new int[] { 1 }), LockError.KEY_WITHOUT_TEXT),
				Arguments.of(Map.of("a", 1), LockError.KEY_WITHOUT_TEXT),
				Arguments.of(new Object(), LockError.KEY_WITHOUT_TEXT),
				Arguments.of(new Untextual(), LockError.KEY_WITHOUT_TEXT),
				Arguments.of(new Date(0), LockError.KEY_WITHOUT_TEXT),
				Arguments.of(new Timestamp(0), LockError.KEY_WITHOUT_TEXT),
				Arguments.of(Calendar.getInstance(), LockError.KEY_WITHOUT_TEXT),
				Arguments.of(TimeZone.getDefault(), LockError.KEY_WITHOUT_TEXT),
				Arguments.of(new Hash(new byte[] { 1 }), LockError.KEY_WITHOUT_TEXT),
				Arguments.of(new Tags(Set.of("a", "b")), LockError.KEY_WITHOUT_TEXT),
				Arguments.of(new Dated("a", List.of(new Date(0))), LockError.KEY_WITHOUT_TEXT),
				Arguments.of(new Holding(new Untextual()), LockError.KEY_WITHOUT_TEXT),
				Arguments.of(new Holding(new int[] { 1 }), LockError.KEY_WITHOUT_TEXT),
				Arguments.of(new byte[0], LockError.BLANK_KEY), Arguments.of((Runnable) () -> {
				}, LockError.KEY_WITHOUT_TEXT));
	}

	@ParameterizedTest
	@MethodSource("texts")
	void valueHasOneTextInEveryProcess(Object value, String text) {
		this.values.lock(value);
		assertThat(this.operations.last().keys()).containsExactly(LockKey.of("Values.lock", text));
	}

	static Stream<Arguments> texts() {
		return Stream.of(Arguments.of(7L, "7"), Arguments.of(7, "7"), Arguments.of("7", "7"),
				Arguments.of(new BigDecimal("7.00"), "7"), Arguments.of(new BigDecimal("0.70"), "0.7"),
				Arguments.of(new BigDecimal("7E+2"), "700"),
				Arguments.of(new BigDecimal("7E+999999999"), "7E+999999999"), Arguments.of(true, "true"),
				Arguments.of('c', "c"), Arguments.of(new UUID(0, 1), "00000000-0000-0000-0000-000000000001"),
				Arguments.of(Instant.EPOCH, "1970-01-01T00:00:00Z"), Arguments.of(LocalDate.EPOCH, "1970-01-01"),
				Arguments.of(new byte[] { 1, (byte) 0xab }, "01ab"),
				Arguments.of(new Order(7, "first.last@cafe.example"), "Order[id=7, mail=first.last@cafe.example]"));
	}

	@Test
	void bytesInACollectionAreOneKeyEach() {
		this.values.lock(List.of(new byte[] { 1, 2 }, new byte[] { 3 }));
		assertThat(this.operations.keys()).containsExactlyInAnyOrder("Values.lock:0102", "Values.lock:03");
	}

	record Order(long id, String mail) {

	}

	record Hash(byte[] bytes) {

	}

	record Tags(Set<String> tags) {

	}

	record Dated(String id, List<Date> dates) {

	}

	record Holding(Object value) {

	}

	static class Untextual {

	}

	static class Values {

		private int calls;

		int calls() {
			return this.calls;
		}

		@DistributedLock("#value")
		void lock(Object value) {
			this.calls++;
		}

	}

}
