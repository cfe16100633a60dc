package io.distributedlock.annotation;

import java.util.ArrayList;
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
import io.distributedlock.LockContext;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.interceptor.RecordingLockOperations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class KeyTests {

	private final RecordingLockOperations operations = new RecordingLockOperations();

	private final Orders orders = new LockedProxies(this.operations).bean("tenants", new Tenants())
		.ofClass(new Orders());

	@Test
	void noExpressionMeansOneLockForTheMethod() {
		this.orders.all("ignored");
		assertThat(this.operations.keys()).containsExactly("Orders.all");
	}

	@Test
	void expressionReadsArgumentsByNameAndPlace() {
		this.orders.byProperty(new Order("7", "a"));
		assertThat(this.operations.keys()).containsExactly("Orders.byProperty:7");
		this.orders.byPlace("x", "y");
		assertThat(this.operations.keys()).containsExactly("Orders.byPlace:y:x");
	}

	@Test
	void expressionReadsRootBeansAndPlaceholders() {
		this.orders.byRoot("x");
		assertThat(this.operations.keys()).containsExactly("Orders.byRoot:byRoot:x:eu:acme:Orders");
	}

	@Test
	void severalExpressionsAreOneCompositeKeyWithoutCollisions() {
		this.orders.composite("a:b", "c");
		List<String> first = this.operations.keys();
		this.orders.composite("a", "b:c");
		assertThat(this.operations.keys()).isNotEqualTo(first).hasSize(1);
	}

	@Test
	void collectionLocksEachElementOnce() {
		this.orders.any(List.of(3, 1, 3));
		assertThat(this.operations.keys()).containsExactly("Orders.any:1", "Orders.any:3");
		this.orders.any(new long[] { 5, 4 });
		assertThat(this.operations.keys()).containsExactly("Orders.any:4", "Orders.any:5");
		this.orders.any(List.of(Optional.of("z")));
		assertThat(this.operations.keys()).containsExactly("Orders.any:z");
	}

	@Test
	void collectionInACompositeLocksEachCombination() {
		this.orders.composite("t", List.of("1", "2"));
		assertThat(this.operations.keys()).containsExactly("Orders.composite:t:1", "Orders.composite:t:2");
	}

	@Test
	void optionalCountsAsItsValue() {
		this.orders.any(Optional.of("v"));
		assertThat(this.operations.keys()).containsExactly("Orders.any:v");
		this.orders.any(OptionalLong.of(9));
		assertThat(this.operations.keys()).containsExactly("Orders.any:9");
	}

	@Test
	void enumsCountByNameAndClassesByFullName() {
		this.orders.any(TimeUnit.DAYS);
		assertThat(this.operations.keys()).containsExactly("Orders.any:DAYS");
		this.orders.any(String.class);
		assertThat(this.operations.keys()).containsExactly("Orders.any:java.lang.String");
	}

	@ParameterizedTest
	@MethodSource("refused")
	void valueThatIsNoKeyIsRefusedBeforeAnythingIsLocked(Object value, LockError error) {
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> this.orders.any(value))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(error))
			.withMessageContaining("Orders.any")
			.withMessageContaining("#value");
		assertThat(this.operations.requests()).isEmpty();
		assertThat(this.orders.calls()).isZero();
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
				Arguments.of(new Tenants(), LockError.KEY_WITHOUT_TEXT), Arguments.of((Runnable) () -> {
				}, LockError.KEY_WITHOUT_TEXT));
	}

	@Test
	void twoCollectionsInOneCompositeAreRefused() {
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> this.orders.composite(List.of("a"), List.of("b")))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.TWO_COLLECTIONS));
	}

	@Test
	void expressionThatFailsIsTold() {
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> this.orders.byProperty(null))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.KEY_EVALUATION))
			.withMessageContaining("#order.id")
			.havingCause();
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> this.orders.byProperty(new Order(null, "x")))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NULL_KEY));
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> this.orders.failing("x"))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.KEY_EVALUATION))
			.withCauseInstanceOf(IllegalStateException.class);
	}

	@Test
	void argumentValuesAreNeverEvaluated() {
		String value = "#{T(java.lang.Runtime).getRuntime()} ${app.region} T(java.lang.System).exit(1)";
		this.orders.any(value);
		assertThat(this.operations.last().keys()).containsExactly(LockKey.of("Orders.any", value));
	}

	@Test
	void keyIsResolvedOnceBeforeTheBodyChangesItsArgument() {
		List<String> ids = new ArrayList<>(List.of("a"));
		this.orders.mutating(ids);
		assertThat(ids).containsExactly("b");
		assertThat(this.operations.requests()).hasSize(1);
		assertThat(this.orders.seen()).containsExactly(LockKey.of("Orders.mutating", "a"));
	}

	@Test
	void manyCallsWithManyKeysKeepNothing() {
		for (int i = 0; i < 100_000; i++) {
			this.orders.any(i);
			this.operations.requests().clear();
		}
		this.orders.any("last");
		assertThat(this.operations.keys()).containsExactly("Orders.any:last");
		assertThat(this.orders.calls()).isEqualTo(100_001);
	}

	record Order(String id, String owner) {
	}

	static class Tenants {

		public String current() {
			return "acme";
		}

		public String failing() {
			throw new IllegalStateException("no tenant");
		}

	}

	static class Orders {

		private int calls;

		private List<LockKey> seen = List.of();

		int calls() {
			return this.calls;
		}

		List<LockKey> seen() {
			return this.seen;
		}

		@DistributedLock
		void all(String ignored) {
		}

		@DistributedLock("#order.id")
		void byProperty(Order order) {
		}

		@DistributedLock(key = { "#p1", "#a0" })
		void byPlace(String first, String second) {
		}

		@DistributedLock({ "#root.method.name", "#root.args[0]", "'${app.region}'", "@tenants.current()",
				"#root.target.class.simpleName" })
		void byRoot(String id) {
		}

		@DistributedLock({ "#first", "#second" })
		void composite(Object first, Object second) {
		}

		@DistributedLock("#value")
		void any(Object value) {
			this.calls++;
		}

		@DistributedLock("@tenants.failing()")
		void failing(String id) {
		}

		@DistributedLock("#ids")
		void mutating(List<String> ids) {
			ids.set(0, "b");
			this.seen = LockContext.current().keys();
		}

	}

}
