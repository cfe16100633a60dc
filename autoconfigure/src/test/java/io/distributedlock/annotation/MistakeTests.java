package io.distributedlock.annotation;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.Stream;

import jakarta.annotation.PostConstruct;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.beans.factory.InitializingBean;
import org.springframework.context.annotation.Bean;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.annotation.elsewhere.HiddenMethod;
import io.distributedlock.interceptor.OnBusy;
import io.distributedlock.interceptor.RecordingLockOperations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

class MistakeTests {

	private final LockedProxies proxies = new LockedProxies(new RecordingLockOperations());

	@ParameterizedTest
	@MethodSource("mistakes")
	void mistakeIsFoundWhenTheClassIsFirstSeen(Class<?> type, LockError error, String where, String what) {
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> this.proxies.read(type))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(error))
			.withMessageStartingWith(error.id() + ": ")
			.withMessageContaining(type.getSimpleName() + "." + where)
			.withMessageContaining(what)
			.satisfies((ex) -> assertThat(ex.action()).isNotBlank());
	}

	static Stream<Arguments> mistakes() {
		return Stream.of(Arguments.of(BadExpression.class, LockError.INVALID_EXPRESSION, "run", "'#id +'"),
				Arguments.of(EmptyExpression.class, LockError.INVALID_EXPRESSION, "run", "''"),
				Arguments.of(UnknownPlaceholder.class, LockError.INVALID_EXPRESSION, "run", "${app.missing}"),
				Arguments.of(UnknownVariable.class, LockError.UNKNOWN_VARIABLE, "run", "#ids"),
				Arguments.of(UnknownPlace.class, LockError.UNKNOWN_VARIABLE, "run", "#p1"),
				Arguments.of(UnknownFunction.class, LockError.UNKNOWN_VARIABLE, "run", "#now"),
				Arguments.of(BadLease.class, LockError.INVALID_DURATION, "run", "lease 'soon'"),
				Arguments.of(NoUnit.class, LockError.INVALID_DURATION, "run", "waitTime '30'"),
				Arguments.of(ZeroLease.class, LockError.INVALID_LEASE, "run", "PT0S"),
				Arguments.of(NegativeLease.class, LockError.INVALID_LEASE, "run", "PT-1S"),
				Arguments.of(NegativeWait.class, LockError.INVALID_WAIT_TIME, "run", "PT-1S"),
				Arguments.of(ZeroMaxHold.class, LockError.INVALID_MAX_HOLD, "run", "PT0S"),
				Arguments.of(SkipOnPrimitive.class, LockError.SKIP_ON_PRIMITIVE, "run", "int"),
				Arguments.of(OfFuture.class, LockError.UNSUPPORTED_RESULT, "run", "java.util.concurrent.Future"),
				Arguments.of(OfStage.class, LockError.UNSUPPORTED_RESULT, "run", "CompletableFuture"),
				Arguments.of(OfCallable.class, LockError.UNSUPPORTED_RESULT, "run", "Callable"),
				Arguments.of(OfPublisher.class, LockError.UNSUPPORTED_RESULT, "run", "Flow$Publisher"),
				Arguments.of(OfSuspend.class, LockError.UNSUPPORTED_RESULT, "run", "suspend"),
				Arguments.of(PrivateMethod.class, LockError.NOT_PROXYABLE, "run", "private"),
				Arguments.of(FinalMethod.class, LockError.NOT_PROXYABLE, "run", "final"),
				Arguments.of(StaticMethod.class, LockError.NOT_PROXYABLE, "run", "static"),
				Arguments.of(InAnotherPackage.class, LockError.NOT_PROXYABLE, "run", "package-private"),
				Arguments.of(FinalOfType.class, LockError.NOT_PROXYABLE, "run", "final"),
				Arguments.of(Constructing.class, LockError.LIFECYCLE_METHOD, "run", "@PostConstruct"),
				Arguments.of(Initializing.class, LockError.LIFECYCLE_METHOD, "afterPropertiesSet", "callback"),
				Arguments.of(Factory.class, LockError.LIFECYCLE_METHOD, "run", "@Bean"),
				Arguments.of(Overloads.class, LockError.AMBIGUOUS_NAME, "run", "'Overloads.run'"));
	}

	@Test
	void classesOfOneSimpleNameMeetByDefault() {
		this.proxies.read(Left.Jobs.class);
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> this.proxies.read(Right.Jobs.class))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.AMBIGUOUS_NAME))
			.withMessageContaining("Left$Jobs")
			.withMessageContaining("Right$Jobs")
			.withMessageContaining("name = ");
	}

	@Test
	void subclassesMayShareTheMethodOfTheirSuperclass() {
		assertThatNoException().isThrownBy(() -> {
			this.proxies.read(Left.Jobs.class);
			this.proxies.read(MoreJobs.class);
		});
	}

	@Test
	void callbacksOfAnAnnotatedTypeAreLeftAlone() {
		assertThatNoException().isThrownBy(() -> this.proxies.read(TypeWithCallbacks.class));
	}

	@Test
	void aProjectionsThisIsNoUnknownVariable() {
		assertThatNoException().isThrownBy(() -> this.proxies.read(Projecting.class));
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

	static class UnknownPlaceholder {

		@DistributedLock("'${app.missing}'")
		void run(String id) {
		}

	}

	static class UnknownVariable {

		@DistributedLock({ "'x'", "#id ?: {#ids}" })
		void run(String id) {
		}

	}

	static class UnknownPlace {

		@DistributedLock("#p1")
		void run(String id) {
		}

	}

	static class UnknownFunction {

		@DistributedLock("#now()")
		void run(String id) {
		}

	}

	static class Projecting {

		@DistributedLock("#ids.![#this + #root.method.name]")
		void run(Iterable<String> ids) {
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

	static class SkipOnPrimitive {

		@DistributedLock(onBusy = OnBusy.SKIP)
		int run() {
			return 1;
		}

	}

	static class OfFuture {

		@DistributedLock
		Future<String> run() {
			return new CompletableFuture<>();
		}

	}

	static class OfStage {

		@DistributedLock
		CompletableFuture<String> run() {
			return new CompletableFuture<>();
		}

	}

	static class OfCallable {

		@DistributedLock
		Callable<String> run() {
			return () -> "";
		}

	}

	static class OfPublisher {

		@DistributedLock
		Flow.Publisher<String> run() {
			return (subscriber) -> {
			};
		}

	}

	static class OfSuspend {

		@DistributedLock
		Object run(String id, kotlin.coroutines.Continuation<Object> continuation) {
			return id;
		}

	}

	static class PrivateMethod {

		@DistributedLock
		private void run() {
		}

	}

	static class FinalMethod {

		@DistributedLock
		final void run() {
		}

	}

	static class InAnotherPackage extends HiddenMethod {

	}

	static class StaticMethod {

		@DistributedLock
		static void run() {
		}

	}

	@DistributedLock
	static class FinalOfType {

		public final void run() {
		}

	}

	static class Constructing {

		@PostConstruct
		@DistributedLock
		void run() {
		}

	}

	static class Initializing implements InitializingBean {

		@Override
		@DistributedLock
		public void afterPropertiesSet() {
		}

	}

	static class Factory {

		@Bean
		@DistributedLock
		String run() {
			return "";
		}

	}

	static class Overloads {

		@DistributedLock
		void run() {
		}

		@DistributedLock
		void run(String id) {
		}

	}

	static class Left {

		static class Jobs {

			@DistributedLock
			void nightly() {
			}

		}

	}

	static class Right {

		static class Jobs {

			@DistributedLock
			void nightly() {
			}

		}

	}

	static class MoreJobs extends Left.Jobs {

	}

	@DistributedLock
	static class TypeWithCallbacks implements InitializingBean {

		@PostConstruct
		public void start() {
		}

		@Override
		public void afterPropertiesSet() {
		}

		public static void helper() {
		}

		private void inner() {
		}

	}

}
