package io.distributedlock.annotation;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.time.Duration;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.BeanNameAware;
import org.springframework.core.annotation.AliasFor;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.interceptor.LockedProxies;
import io.distributedlock.interceptor.RecordingLockOperations;

import static org.assertj.core.api.Assertions.assertThat;

class AnnotationLockAttributeSourceTests {

	private final RecordingLockOperations operations = new RecordingLockOperations();

	private final LockedProxies proxies = new LockedProxies(this.operations);

	@Test
	void annotationOfTheClassIsFoundBehindAnInterfaceProxy() {
		this.proxies.ofInterface(Plain.class, new AnnotatedClass()).pay("1");
		assertThat(this.operations.keys()).containsExactly("AnnotatedClass.pay:1");
	}

	@Test
	void annotationOfTheInterfaceIsFoundBehindBothKindsOfProxy() {
		this.proxies.ofInterface(AnnotatedInterface.class, new OfAnnotatedInterface()).pay("1");
		assertThat(this.operations.keys()).containsExactly("AnnotatedInterface.pay:1");
		this.proxies.ofClass(new OfAnnotatedInterface()).pay("2");
		assertThat(this.operations.keys()).containsExactly("AnnotatedInterface.pay:2");
	}

	@Test
	void annotationOfAGenericInterfaceIsFound() {
		this.proxies.ofClass(new OfGeneric()).handle("1");
		assertThat(this.operations.keys()).containsExactly("Generic.handle:1");
	}

	@Test
	void annotationOfAnInterfaceIsFoundWhereASuperclassImplementsIt() {
		this.proxies.ofClass(new Inheriting()).pay("1");
		assertThat(this.operations.keys()).containsExactly("AnnotatedInterface.pay:1");
	}

	@Test
	void annotationOfASuperclassIsFoundOnAnOverride() {
		this.proxies.ofClass(new Overriding()).pay("1");
		assertThat(this.operations.keys()).containsExactly("AnnotatedClass.pay:1");
	}

	@Test
	void annotationOfATypeAppliesToItsPublicMethods() {
		AnnotatedType proxy = this.proxies.ofClass(new AnnotatedType());
		proxy.open();
		assertThat(this.operations.keys()).containsExactly("AnnotatedType.open");
		assertThat(this.operations.last().lease()).isEqualTo(Duration.ofSeconds(10));
		proxy.own("1");
		assertThat(this.operations.keys()).containsExactly("AnnotatedType.own:1");
		assertThat(this.operations.last().lease()).isNull();
		this.operations.requests().clear();
		proxy.packagePrivate();
		proxy.setBeanName("x");
		assertThat(proxy).hasToString("type");
		assertThat(this.operations.requests()).isEmpty();
	}

	@Test
	void annotationOfASupertypeAppliesToMethodsOfTheSubclass() {
		this.proxies.ofClass(new OfAnnotatedType()).added();
		assertThat(this.operations.keys()).containsExactly("OfAnnotatedType.added");
	}

	@Test
	void annotationMayBeMetaPresentWithAliases() {
		this.proxies.ofClass(new Composed()).pay("1");
		assertThat(this.operations.keys()).containsExactly("payments:1");
		assertThat(this.operations.last().waitTime()).isEqualTo(Duration.ofSeconds(2));
	}

	@Test
	void scheduledLockAsksOnceAndSkips() {
		this.proxies.ofClass(new Scheduled()).run();
		assertThat(this.operations.keys()).containsExactly("nightly");
		assertThat(this.operations.last().waitTime()).isZero();
		assertThat(this.operations.last().minHold()).isEqualTo(Duration.ofMinutes(30));
		assertThat(this.operations.last().lease()).isEqualTo(Duration.ofMinutes(1));
	}

	@Test
	void methodsOfOneDeclaredNameShareLocks() {
		Sharing proxy = this.proxies.ofClass(new Sharing());
		proxy.first("1");
		proxy.second("1");
		assertThat(this.operations.requests()).hasSize(2)
			.allSatisfy((request) -> assertThat(request.keys()).hasToString("[shared:1]"));
	}

	@ParameterizedTest
	@ValueSource(classes = { TemplateAsName.class, BeanTemplateAsName.class, ExpressionAsName.class,
			VariableAsName.class, QuotedName.class })
	void nameThatLooksLikeAnExpressionIsRefused(Class<?> type) {
		this.proxies.assertRefused(type, LockError.INVALID_EXPRESSION, "run", "The name is text");
	}

	@Test
	void signsInANameAreText() {
		this.proxies.ofClass(new NameWithSigns()).run();
		assertThat(this.operations.last().keys()).containsExactly(LockKey.of("Bob's job #1"));
		this.proxies.ofClass(new NameOfAMethod()).run();
		assertThat(this.operations.last().keys()).containsExactly(LockKey.of("Invoices#close of 'acme'"));
	}

	@Test
	void methodWithoutAnnotationIsLeftAlone() {
		this.proxies.ofClass(new Sharing()).third();
		assertThat(this.operations.requests()).isEmpty();
	}

	@ParameterizedTest
	@MethodSource("severalAnnotations")
	void severalAnnotationsOfOneMethodAreRefused(Class<?> type, String first, String second) {
		this.proxies.assertRefused(type, LockError.SEVERAL_ANNOTATIONS, "pay", first);
		this.proxies.assertRefused(type, LockError.SEVERAL_ANNOTATIONS, "pay", second);
	}

	@Test
	void equalAnnotationsOfTwoInterfacesAreOne() {
		this.proxies.ofClass(new OfTwoEqualInterfaces()).pay("1");
		assertThat(this.operations.keys()).containsExactly("payment:1");
	}

	static Stream<Arguments> severalAnnotations() {
		String ofInterface = "@DistributedLock of AnnotatedInterface.pay";
		String ofOther = "@DistributedLock of OtherInterface.pay";
		return Stream.of(Arguments.of(TwoComposed.class, "@PaymentLock", "@StockLock"),
				Arguments.of(ComposedBesidePlain.class, "@DistributedLock of", "@ScheduledLock"),
				Arguments.of(ComposedOfTwo.class, "@BothLocks @PaymentLock", "@BothLocks @StockLock"),
				Arguments.of(OfTwoInterfaces.class, ofInterface, ofOther),
				Arguments.of(InheritingForTwoInterfaces.class, ofInterface, ofOther),
				Arguments.of(OfClassAndInterface.class, "@DistributedLock of AnnotatedClass.pay", ofOther),
				Arguments.of(OfTwoAnnotatedTypes.class, "@DistributedLock of Tagged", "@StockLock of OtherTagged"),
				Arguments.of(TwoOnType.class, "@PaymentLock of TwoOnType", "@StockLock of TwoOnType"));
	}

	@Test
	void nearestOfSeveralAnnotationsCounts() {
		this.proxies.ofClass(new OwnOfTwoInterfaces()).pay("1");
		assertThat(this.operations.keys()).containsExactly("OwnOfTwoInterfaces.pay:1");
		this.proxies.ofClass(new OfNearerInterface()).pay("1");
		assertThat(this.operations.keys()).containsExactly("NearerInterface.pay:1");
		this.proxies.ofClass(new OwnOfTwoTypes()).pay("1");
		assertThat(this.operations.keys()).containsExactly("own");
	}

	@Test
	void annotationOfTheTargetCountsBehindAProxyOfTwoInterfaces() {
		AnnotatedInterface proxy = (AnnotatedInterface) this.proxies.ofInterfaces(new OwnOfTwoInterfaces(),
				AnnotatedInterface.class, OtherInterface.class);
		this.proxies.read(proxy.getClass());
		proxy.pay("1");
		assertThat(this.operations.keys()).containsExactly("OwnOfTwoInterfaces.pay:1");
	}

	@ParameterizedTest
	@MethodSource("mistakes")
	void mistakeInAnAttributeIsRefusedOnFirstRead(Class<?> type, LockError error, String where, String what) {
		this.proxies.assertRefused(type, error, where, what);
	}

	static Stream<Arguments> mistakes() {
		return Stream.of(Arguments.of(UnknownPlaceholder.class, LockError.INVALID_EXPRESSION, "run", "${app.missing}"),
				Arguments.of(BadLease.class, LockError.INVALID_DURATION, "run", "lease 'soon'"),
				Arguments.of(NoUnit.class, LockError.INVALID_DURATION, "run", "waitTime '30'"),
				Arguments.of(ZeroLease.class, LockError.INVALID_LEASE, "run", "PT0S"),
				Arguments.of(NegativeLease.class, LockError.INVALID_LEASE, "run", "PT-1S"),
				Arguments.of(NegativeWait.class, LockError.INVALID_WAIT_TIME, "run", "PT-1S"),
				Arguments.of(ZeroMaxHold.class, LockError.INVALID_MAX_HOLD, "run", "PT0S"),
				Arguments.of(MinHoldBeyondMaxHold.class, LockError.INVALID_MIN_HOLD, "run", "PT1M"));
	}

	interface Plain {

		void pay(String id);

	}

	static class AnnotatedClass implements Plain {

		@Override
		@DistributedLock("#id")
		public void pay(String id) {
		}

	}

	static class Overriding extends AnnotatedClass {

		@Override
		public void pay(String other) {
		}

	}

	interface AnnotatedInterface {

		@DistributedLock("#id")
		void pay(String id);

	}

	static class OfAnnotatedInterface implements AnnotatedInterface {

		@Override
		public void pay(String renamed) {
		}

	}

	static class Base {

		public void pay(String id) {
		}

	}

	static class Inheriting extends Base implements AnnotatedInterface {

	}

	interface Generic<T> {

		@DistributedLock("#p0")
		void handle(T value);

	}

	static class OfGeneric implements Generic<String> {

		@Override
		public void handle(String value) {
		}

	}

	@DistributedLock(lease = "10s")
	static class AnnotatedType implements BeanNameAware {

		public void open() {
		}

		@DistributedLock("#id")
		public void own(String id) {
		}

		void packagePrivate() {
		}

		@Override
		public void setBeanName(String name) {
		}

		@Override
		public String toString() {
			return "type";
		}

	}

	static class OfAnnotatedType extends AnnotatedType {

		public void added() {
		}

	}

	static class TemplateAsName {

		@DistributedLock(name = "sync-#{#tenant}")
		void run(String tenant) {
		}

	}

	static class BeanTemplateAsName {

		@DistributedLock(name = "#{@props.name}")
		void run() {
		}

	}

	static class ExpressionAsName {

		@DistributedLock(name = "'order-' + #id")
		void run(String id) {
		}

	}

	static class VariableAsName {

		@DistributedLock(name = "order-#id")
		void run(String id) {
		}

	}

	static class QuotedName {

		@DistributedLock(name = "'nightly'")
		void run() {
		}

	}

	interface Paying {

		@DistributedLock(name = "payment", key = "#id")
		void pay(String id);

	}

	interface AlsoPaying {

		@DistributedLock(name = "payment", key = "#id")
		void pay(String id);

	}

	static class OfTwoEqualInterfaces implements Paying, AlsoPaying {

		@Override
		public void pay(String id) {
		}

	}

	static class NameOfAMethod {

		@DistributedLock(name = "Invoices#close of 'acme'")
		void run() {
		}

	}

	static class NameWithSigns {

		@DistributedLock(name = "Bob's job #1")
		void run() {
		}

	}

	@Target({ ElementType.METHOD, ElementType.TYPE })
	@Retention(RetentionPolicy.RUNTIME)
	@DistributedLock(name = "payments", waitTime = "2s")
	@interface PaymentLock {

		@AliasFor(annotation = DistributedLock.class, attribute = "key")
		String[] id() default {};

	}

	@Target({ ElementType.METHOD, ElementType.TYPE })
	@Retention(RetentionPolicy.RUNTIME)
	@DistributedLock(name = "stock")
	@interface StockLock {

	}

	@Target(ElementType.METHOD)
	@Retention(RetentionPolicy.RUNTIME)
	@PaymentLock
	@StockLock
	@interface BothLocks {

	}

	static class TwoComposed {

		@PaymentLock
		@StockLock
		void pay() {
		}

	}

	static class ComposedBesidePlain {

		@ScheduledLock(minHold = "1m")
		@DistributedLock(provider = "jdbc")
		void pay() {
		}

	}

	static class ComposedOfTwo {

		@BothLocks
		void pay() {
		}

	}

	interface OtherInterface {

		@DistributedLock("#id")
		void pay(String id);

	}

	interface NearerInterface extends AnnotatedInterface {

		@Override
		@DistributedLock("#id")
		void pay(String id);

	}

	static class OfTwoInterfaces implements AnnotatedInterface, OtherInterface {

		@Override
		public void pay(String id) {
		}

	}

	static class OwnOfTwoInterfaces implements AnnotatedInterface, OtherInterface {

		@Override
		@DistributedLock("#id")
		public void pay(String id) {
		}

	}

	static class OfNearerInterface implements AnnotatedInterface, NearerInterface {

		@Override
		public void pay(String id) {
		}

	}

	static class InheritingForTwoInterfaces extends Base implements AnnotatedInterface, OtherInterface {

	}

	static class OfClassAndInterface extends AnnotatedClass implements OtherInterface {

		@Override
		public void pay(String id) {
		}

	}

	@DistributedLock
	interface Tagged {

	}

	@StockLock
	interface OtherTagged {

	}

	static class OfTwoAnnotatedTypes implements Tagged, OtherTagged {

		public void pay(String id) {
		}

	}

	@DistributedLock(name = "own")
	static class OwnOfTwoTypes extends OfTwoAnnotatedTypes {

	}

	@PaymentLock
	@StockLock
	static class TwoOnType {

		public void pay() {
		}

	}

	static class Composed {

		@PaymentLock(id = "#id")
		void pay(String id) {
		}

	}

	static class Sharing {

		@DistributedLock(name = "shared", key = "#id")
		void first(String id) {
		}

		@DistributedLock(name = "shared", key = "#id")
		void second(String id) {
		}

		void third() {
		}

	}

	static class UnknownPlaceholder {

		@DistributedLock("'${app.missing}'")
		void run(String id) {
		}

	}

	static class BadLease {

		@DistributedLock(lease = "soon")
		void run() {
		}

	}

	static class NoUnit {

		@DistributedLock(waitTime = "30")
		void run() {
		}

	}

	static class ZeroLease {

		@DistributedLock(lease = "0s")
		void run() {
		}

	}

	static class NegativeLease {

		@DistributedLock(lease = "-1s")
		void run() {
		}

	}

	static class NegativeWait {

		@DistributedLock(waitTime = "-1s")
		void run() {
		}

	}

	static class ZeroMaxHold {

		@DistributedLock(maxHold = "0")
		void run() {
		}

	}

	static class MinHoldBeyondMaxHold {

		@DistributedLock(minHold = "61s", maxHold = "1m")
		void run() {
		}

	}

	static class Scheduled {

		@ScheduledLock(name = "nightly", minHold = "30m", lease = "1m")
		void run() {
		}

	}

}
