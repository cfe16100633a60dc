package io.distributedlock.interceptor;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
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
				Arguments.of(new Untextual(), LockError.KEY_WITHOUT_TEXT), Arguments.of((Runnable) () -> {
				}, LockError.KEY_WITHOUT_TEXT));
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
