package io.distributedlock.interceptor.expression;

import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import io.distributedlock.InvalidLockKeyException;
import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockContext;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.interceptor.LockedProxies;
import io.distributedlock.interceptor.RecordingLockOperations;
import io.distributedlock.testkit.Soak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

class KeyExpressionsTests {

	private final RecordingLockOperations operations = new RecordingLockOperations();

	private final LockedProxies proxies = new LockedProxies(this.operations);

	private final Orders orders = this.proxies.bean("tenants", new Tenants()).ofClass(new Orders());

	@Test
	void noExpressionMeansOneLockForTheMethod() {
		this.orders.all("ignored");
		assertThat(this.operations.keys()).containsExactly("Orders.all");
	}

	@Test
	void expressionReadsArgumentsByNameAndIndex() {
		this.orders.byProperty(new Order("7", "a"));
		assertThat(this.operations.keys()).containsExactly("Orders.byProperty:7");
		this.orders.byIndex("x", "y");
		assertThat(this.operations.keys()).containsExactly("Orders.byIndex:y:x");
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
	void twoCollectionsInOneCompositeAreRefused() {
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> this.orders.composite(List.of("a"), List.of("b")))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.TWO_COLLECTIONS));
	}

	@Test
	void expressionThatFailsIsReported() {
		assertThatExceptionOfType(InvalidLockKeyException.class).isThrownBy(() -> this.orders.byProperty(null))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.KEY_EVALUATION))
			.withMessageContaining("#order.id")
			.havingCause();
		assertThatExceptionOfType(InvalidLockKeyException.class)
			.isThrownBy(() -> this.orders.byProperty(new Order(null, "x")))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NULL_KEY));
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> this.orders.failing("x"))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.KEY_EVALUATION))
			.withCauseInstanceOf(IllegalStateException.class);
	}

	@Test
	void argumentsThatTheExpressionDoesNotFitAreAnInvalidKey() {
		Fitting proxy = this.proxies.ofClass(new Fitting());
		for (ThrowingCallable call : new ThrowingCallable[] { () -> proxy.byId("x"), () -> proxy.bySecond(List.of()),
				() -> proxy.byStart("") }) {
			assertThatExceptionOfType(InvalidLockKeyException.class).isThrownBy(call).withMessageStartingWith("DL-506");
		}
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> proxy.byUnknown("x"))
			.withMessageStartingWith("DL-506");
	}

	@ParameterizedTest
	@ValueSource(classes = { Concatenating.class, ConcatenatingInList.class, ConcatenatingByChoice.class,
			ConcatenatingAndCalling.class })
	void nullInAConcatenationIsRefused(Class<? extends Concatenation> type) throws Exception {
		Concatenation proxy = this.proxies.ofClass(type.getDeclaredConstructor().newInstance());
		proxy.run(7);
		assertThat(this.operations.keys()).hasSize(1).first().asString().endsWith(":order-7");
		for (Object missing : new Object[] { null, Optional.empty() }) {
			assertThatExceptionOfType(InvalidLockKeyException.class).isThrownBy(() -> proxy.run(missing))
				.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NULL_KEY))
				.withMessageContaining("#id")
				.withMessageContaining("run");
		}
	}

	@Test
	void valueWithoutTextInAConcatenationIsRefused() {
		Concatenation proxy = this.proxies.ofClass(new Concatenating());
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> proxy.run(new Date(0)))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.KEY_WITHOUT_TEXT));
		proxy.run(List.of(1, 2));
		assertThat(this.operations.keys()).containsExactly("Concatenating.run:order-1,2");
	}

	@Test
	void partsOfAConcatenationAreEvaluatedOnce() {
		AtomicInteger counter = new AtomicInteger();
		this.proxies.bean("counter", counter).ofClass(new Counting()).run();
		assertThat(this.operations.keys()).containsExactly("Counting.run:3-1");
		assertThat(counter).hasValue(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "key", "condition" })
	void typeIsFoundByTheLoaderOfTheTarget(String attribute) {
		NamingTypes proxy = this.proxies.ofClass(new NamingTypes());
		ClassLoader before = Thread.currentThread().getContextClassLoader();
		Thread.currentThread().setContextClassLoader(ClassLoader.getPlatformClassLoader());
		try {
			if (attribute.equals("key")) {
				proxy.byKey();
			}
			else {
				proxy.byCondition();
			}
		}
		finally {
			Thread.currentThread().setContextClassLoader(before);
		}
		assertThat(this.operations.keys()).hasSize(1);
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
		assertNothingIsKept(5_000);
	}

	@Test
	@Soak
	void hundredThousandCallsWithManyKeysKeepNothing() {
		assertNothingIsKept(100_000);
	}

	private void assertNothingIsKept(int calls) {
		for (int i = 0; i < calls; i++) {
			this.orders.any(i);
			this.operations.requests().clear();
		}
		this.orders.any("last");
		assertThat(this.operations.keys()).containsExactly("Orders.any:last");
		assertThat(this.orders.calls()).isEqualTo(calls + 1);
	}

	@ParameterizedTest
	@MethodSource("mistakes")
	void mistakeInAnExpressionIsRefusedOnFirstRead(Class<?> type, LockError error, String where, String what) {
		this.proxies.assertRefused(type, error, where, what);
	}

	static Stream<Arguments> mistakes() {
		return Stream.of(Arguments.of(BadExpression.class, LockError.INVALID_EXPRESSION, "run", "'#id +'"),
				Arguments.of(EmptyExpression.class, LockError.INVALID_EXPRESSION, "run", "''"),
				Arguments.of(UnknownVariable.class, LockError.UNKNOWN_VARIABLE, "run", "#ids"),
				Arguments.of(UnknownIndex.class, LockError.UNKNOWN_VARIABLE, "run", "#p1"),
				Arguments.of(UnknownFunction.class, LockError.UNKNOWN_VARIABLE, "run", "#now"));
	}

	@ParameterizedTest
	@MethodSource("bareWords")
	void wordThatIsNoVariableAndNoPropertyOfRootIsRefused(Class<?> type, String remedy) {
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> this.proxies.read(type))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.INVALID_EXPRESSION))
			.withMessageContaining(remedy);
	}

	static Stream<Arguments> bareWords() {
		return Stream.of(Arguments.of(Unquoted.class, "\"'nightly'\""),
				Arguments.of(UnquotedWithSign.class, "\"'nightly-job'\""), Arguments.of(WithoutHash.class, "\"#id\""),
				Arguments.of(AsAnArgument.class, "\"'suffix'\""), Arguments.of(OfRoot.class, "\"'nightly'\""),
				Arguments.of(RootsTarget.class, "\"'target'\""),
				Arguments.of(RootsMethodName.class, "#root.method.name"),
				Arguments.of(RootsArguments.class, "\"#args\""));
	}

	@Test
	void declaredNamePrevailsOverThePlaceOfThatName() {
		this.proxies.ofClass(new NamedLikePlaces()).run("first", "second");
		assertThat(this.operations.keys()).containsExactly("NamedLikePlaces.run:first");
	}

	@Test
	void parameterNamedRootIsRefusedInAKey() {
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> this.proxies.read(NamedRoot.class))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.AMBIGUOUS_VARIABLE))
			.withMessageContaining("#root")
			.withMessageContaining("#a0");
		assertThatNoException().isThrownBy(() -> this.proxies.read(NamedRootUnused.class));
	}

	@Test
	void overrideMayRenameTheParameterOfTheAnnotatedMethod() {
		this.proxies.ofClass(new Renaming()).pay("1", "2");
		assertThat(this.operations.keys()).containsExactly("Transfers.pay:1");
	}

	@Test
	void implementationThatSwapsTheNamesIsRefused() {
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> this.proxies.read(Swapping.class))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.AMBIGUOUS_VARIABLE))
			.withMessageContaining("Swapping.pay")
			.withMessageContaining("#from");
	}

	@Test
	void swappedNamesThatNoKeyUsesAreLeftAlone() {
		assertThatNoException().isThrownBy(() -> this.proxies.read(SwappingUnused.class));
	}

	@Test
	void propertiesOfValuesAndRootAreNoBareWords() {
		assertThatNoException().isThrownBy(() -> this.proxies.read(Properties.class));
	}

	@Test
	void aProjectionsThisIsNoUnknownVariable() {
		assertThatNoException().isThrownBy(() -> this.proxies.read(Projecting.class));
	}

	@Test
	void getterThatFailsIsCalledOnce() {
		Refusing good = new Refusing(false);
		Refusing bad = new Refusing(true);
		this.orders.byGetter(good);
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> this.orders.byGetter(bad))
			.withMessageContaining("#order.number");
		assertThat(good.calls).isOne();
		assertThat(bad.calls).isOne();
	}

	static class Refusing {

		private final boolean refusing;

		private int calls;

		Refusing(boolean refusing) {
			this.refusing = refusing;
		}

		public String getNumber() {
			this.calls++;
			if (this.refusing) {
				throw new IllegalStateException("no number");
			}
			return "1";
		}

	}

	record Order(String id, String owner) {
	}

	interface Concatenation {

		void run(Object id);

	}

	static class Concatenating implements Concatenation {

		@Override
		@DistributedLock("'order-' + #id")
		public void run(Object id) {
		}

	}

	static class ConcatenatingInList implements Concatenation {

		@Override
		@DistributedLock("{'order-' + (#id + '')}")
		public void run(Object id) {
		}

	}

	static class ConcatenatingByChoice implements Concatenation {

		@Override
		@DistributedLock("#id == 1 ? 'first' : 'order-' + #id")
		public void run(Object id) {
		}

	}

	static class ConcatenatingAndCalling implements Concatenation {

		@Override
		@DistributedLock("('ORDER-' + #id).toLowerCase()")
		public void run(Object id) {
		}

	}

	static class Fitting {

		@DistributedLock("T(java.util.UUID).fromString(#id)")
		void byId(String id) {
		}

		@DistributedLock("#ids[1]")
		void bySecond(List<String> ids) {
		}

		@DistributedLock("#id.substring(3)")
		void byStart(String id) {
		}

		@DistributedLock("#id.unknown")
		void byUnknown(String id) {
		}

	}

	static class Counting {

		@DistributedLock("1 + 2 + '-' + @counter.incrementAndGet()")
		void run() {
		}

	}

	static class NamingTypes {

		@DistributedLock("T(io.distributedlock.LockError).NULL_KEY")
		void byKey() {
		}

		@DistributedLock(condition = "T(io.distributedlock.LockError).NULL_KEY != null")
		void byCondition() {
		}

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
		void byIndex(String first, String second) {
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

		@DistributedLock("#order.number")
		void byGetter(Refusing order) {
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

	static class BadExpression {

		@DistributedLock("#id +")
		void run(String id) {
		}

	}

	static class EmptyExpression {

		@DistributedLock("")
		void run(String id) {
		}

	}

	static class UnknownVariable {

		@DistributedLock({ "'x'", "#id ?: {#ids}" })
		void run(String id) {
		}

	}

	static class UnknownIndex {

		@DistributedLock("#p1")
		void run(String id) {
		}

	}

	static class UnknownFunction {

		@DistributedLock("#now()")
		void run(String id) {
		}

	}

	static class Properties {

		@DistributedLock({ "#ids.![length()].size()", "#orders[key].id", "{word: #id}.size()", "target.class.name",
				"#root.args.length", "T(java.util.Locale).ROOT", "#list.?[active].size()" })
		void run(String id, List<String> ids, Map<String, Order> orders, List<Order> list) {
		}

	}

	static class Projecting {

		@DistributedLock("#ids.![#this + #root.method.name]")
		void run(Iterable<String> ids) {
		}

	}

	static class Unquoted {

		@DistributedLock("nightly")
		void run(String id) {
		}

	}

	static class UnquotedWithSign {

		@DistributedLock("nightly-job")
		void run(String id) {
		}

	}

	static class WithoutHash {

		@DistributedLock("id.trim()")
		void run(String id) {
		}

	}

	static class AsAnArgument {

		@DistributedLock("#id.concat(suffix)")
		void run(String id) {
		}

	}

	static class OfRoot {

		@DistributedLock("#root.nightly")
		void run(String id) {
		}

	}

	static class RootsMethodName {

		@DistributedLock("#root.methodName")
		void run(String id) {
		}

	}

	static class RootsTarget {

		@DistributedLock("target")
		void run(String id) {
		}

	}

	static class RootsArguments {

		@DistributedLock("args")
		void run(String args) {
		}

	}

	static class NamedLikePlaces {

		@DistributedLock("#p1")
		void run(String p1, String p0) {
		}

	}

	static class NamedRoot {

		@DistributedLock("#root")
		void run(String root) {
		}

	}

	static class NamedRootUnused {

		@DistributedLock("#a0")
		void run(String root) {
		}

	}

	interface Transfers {

		@DistributedLock("#from")
		void pay(String from, String to);

	}

	static class Renaming implements Transfers {

		@Override
		public void pay(String source, String sink) {
		}

	}

	static class Swapping implements Transfers {

		@Override
		public void pay(String to, String from) {
		}

	}

	static class SwappingUnused implements Transfers {

		@Override
		@DistributedLock("#p0")
		public void pay(String to, String from) {
		}

	}

}
