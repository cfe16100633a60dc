package io.distributedlock.interceptor.expression;

import java.math.BigDecimal;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.LocalDate;
import java.util.Arrays;
import java.util.Calendar;
import java.util.Date;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TimeZone;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.data.domain.PageImpl;

import io.distributedlock.InvalidLockKeyException;
import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.interceptor.LockedProxies;
import io.distributedlock.interceptor.RecordingLockOperations;

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
		assertThatExceptionOfType(LockException.class).isThrownBy(() -> this.values.lock(value))
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
	@MethodSource("hidden")
	void valueBehindAnotherTypeIsRefused(Object value, String remedy) {
		assertThatExceptionOfType(LockException.class).isThrownBy(() -> this.values.lock(value))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.KEY_WITHOUT_TEXT))
			.withMessageContaining(remedy);
	}

	@ParameterizedTest
	@MethodSource("inputs")
	void valueThatAClientMayHaveSentIsAnInvalidKey(Object value) {
		assertThatExceptionOfType(InvalidLockKeyException.class).isThrownBy(() -> this.values.lock(value));
	}

	static Stream<Object> inputs() {
		return Stream.of(Optional.empty(), " ", List.of(), Arrays.asList("a", null), List.of(List.of("a")),
				new Generic<>(nested(100)), new Textual("java.lang.Object@1f"));
	}

	@ParameterizedTest
	@MethodSource("classes")
	void classWithoutATextIsAMistakeOfTheApplication(Object value) {
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> this.values.lock(value));
	}

	static Stream<Object> classes() {
		return Stream.of(new Date(0), new Object(), Map.of("a", 1), Mono.just("a"), List.of(new Date(0)));
	}

	static Stream<Arguments> hidden() throws UnknownHostException {
		InetAddress address = InetAddress.getByAddress("host", new byte[] { 127, 0, 0, 1 });
		return Stream.of(Arguments.of(new Generic<>(new Date(0)), "components"),
				Arguments.of(new Generic<>(new HashSet<>(Set.of("a"))), "components"),
				Arguments.of(new Generic<>(new Generic<>(new byte[0])), "components"),
				Arguments.of(new Generic<>(List.of("a", List.of(new Date(0)))), "components"),
				Arguments.of(new Generic<>(Optional.of(new Date(0))), "components"),
				Arguments.of(new Generic<>(new Textual("java.lang.Object@1f")), "components"),
				Arguments.of(new Generic<>(nested(100)), "components"),
				Arguments.of(List.of(Optional.of(new Date(0))), "#date.time"),
				Arguments.of(Map.entry("a", "b"), "key and value"),
				Arguments.of(new AtomicReference<>(new Date(0)), ".get()"),
				Arguments.of(CompletableFuture.completedFuture("a"), "id"),
				Arguments.of(Mono.just("a"), "before the call"), Arguments.of(Flux.just("a"), "before the call"),
				Arguments.of(Stream.of("a"), "before the call"),
				Arguments.of(new Generic<>(Mono.just("a")), "components"),
				Arguments.of(new PageImpl<>(List.of("a")), "#page.content"),
				Arguments.of(new TreeMap<>(Map.of("a", 1)), "entry"), Arguments.of(address, "hostAddress"),
				Arguments.of(new InetSocketAddress(address, 80), "hostString"));
	}

	private static Object nested(int depth) {
		return (depth > 0) ? new Generic<>(nested(depth - 1)) : "end";
	}

	@Test
	void refusedMapIsNotSaidToHaveNoOrder() {
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> this.values.lock(new TreeMap<>(Map.of("a", 1))))
			.withMessageContaining("is a map");
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
				Arguments.of(new Order(7, "first.last@cafe.example"), "Order[id=7, mail=first.last@cafe.example]"),
				Arguments.of(new Order(7, "john.doe@cafe"), "Order[id=7, mail=john.doe@cafe]"),
				Arguments.of(new Generic<>(new Order(7, null)), "Generic[value=Order[id=7, mail=null]]"),
				Arguments.of(new Generic<>(List.of("a", 1)), "Generic[value=[a, 1]]"),
				Arguments.of(new Generic<>(Optional.empty()), "Generic[value=Optional.empty]"),
				Arguments.of(new Generic<>(new Textual("a")), "Generic[value=a]"),
				Arguments.of(new StringBuilder("a.b@1f"), "a.b@1f"),
				Arguments.of(new Textual("com.acme@12"), "com.acme@12"),
				Arguments.of(new Textual("John.Doe@cafe"), "John.Doe@cafe"), Arguments.of(Path.of("a", "b"), "a/b"),
				Arguments.of(URI.create("mailto:john.doe@cafe"), "mailto:john.doe@cafe"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "a", "a.", "a.b", "a$" })
	void longTextInAnObjectIsAKey(String word) {
		String text = word.repeat(20_000);
		this.values.lock(new Order(7, text));
		assertThat(this.operations.last().keys())
			.containsExactly(LockKey.of("Values.lock", "Order[id=7, mail=" + text + "]"));
		this.values.lock(new Textual(text));
		assertThat(this.operations.last().keys()).containsExactly(LockKey.of("Values.lock", text));
	}

	@ParameterizedTest
	@ValueSource(strings = { "java.lang.Object@1f", "x [I@1f", "[Lcom.x.Y;@12", "R[v=com.A$B@1f2e]", "[[J@abcdef12",
			"jdk.proxy2.$Proxy12@1f", "a.B$$Lambda/0x00007f5c01000a00@1f", "john.doe@cafe, java.lang.Object@1f" })
	void identityInATextIsRefused(String text) {
		assertThatExceptionOfType(InvalidLockKeyException.class).isThrownBy(() -> this.values.lock(new Textual(text)))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.KEY_WITHOUT_TEXT))
			.withMessageContaining("identity of an object");
	}

	@Test
	void bytesInACollectionAreOneKeyEach() {
		this.values.lock(List.of(new byte[] { 1, 2 }, new byte[] { 3 }));
		assertThat(this.operations.keys()).containsExactlyInAnyOrder("Values.lock:0102", "Values.lock:03");
	}

	record Order(long id, @Nullable String mail) {

	}

	record Hash(byte[] bytes) {

	}

	record Tags(Set<String> tags) {

	}

	record Dated(String id, List<Date> dates) {

	}

	record Generic<T>(T value) {

	}

	record Holding(Object value) {

	}

	record Textual(String text) {

		@Override
		public String toString() {
			return this.text;
		}

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
