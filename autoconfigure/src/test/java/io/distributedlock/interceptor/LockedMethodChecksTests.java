package io.distributedlock.interceptor;

import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;

import jakarta.annotation.PostConstruct;
import jakarta.inject.Inject;

import kotlin.Metadata;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Flux;

import org.springframework.beans.factory.BeanNameAware;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Bean;
import org.springframework.context.support.ApplicationObjectSupport;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.OnBusy;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.interceptor.elsewhere.HiddenMethod;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

class LockedMethodChecksTests {

	private final LockedProxies proxies = new LockedProxies(new RecordingLockOperations());

	@ParameterizedTest
	@MethodSource("mistakes")
	void unsuitableMethodIsRefusedOnFirstRead(Class<?> type, LockError error, String where, String what) {
		this.proxies.assertRefused(type, error, where, what);
	}

	static Stream<Arguments> mistakes() {
		return Stream.of(Arguments.of(SkipOnPrimitive.class, LockError.NO_EMPTY_RESULT, "run", "int"),
				Arguments.of(OfFuture.class, LockError.UNSUPPORTED_RESULT, "run", "java.util.concurrent.Future"),
				Arguments.of(OfStageOfStreams.class, LockError.UNSUPPORTED_RESULT, "run", "Stream"),
				Arguments.of(OfFluxOfFluxes.class, LockError.UNSUPPORTED_RESULT, "run", "Flux"),
				Arguments.of(OfFutureTask.class, LockError.UNSUPPORTED_RESULT, "run", "FutureTask"),
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
				Arguments.of(Reconstructing.class, LockError.LIFECYCLE_METHOD, "run", "@PostConstruct"),
				Arguments.of(Injected.class, LockError.LIFECYCLE_METHOD, "run", "@Autowired"),
				Arguments.of(JakartaInjected.class, LockError.LIFECYCLE_METHOD, "run", "@Inject"),
				Arguments.of(AwareOfName.class, LockError.LIFECYCLE_METHOD, "setBeanName", "BeanNameAware"),
				Arguments.of(OfStream.class, LockError.UNSUPPORTED_RESULT, "run", "Stream"),
				Arguments.of(OfFuturesInAMap.class, LockError.UNSUPPORTED_RESULT, "run", "CompletableFuture"));
	}

	@Test
	void kotlinsFinalMethodIsToBeOpened() {
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> this.proxies.read(FinalOfKotlin.class))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NOT_PROXYABLE))
			.satisfies((ex) -> assertThat(ex.action()).contains("'open'", "kotlin-spring").doesNotContain("Remove"));
	}

	@Test
	void finalMethodsOfFrameworkClassesAreLeftAlone() {
		assertThatNoException().isThrownBy(() -> this.proxies.read(OfFramework.class));
	}

	@Test
	void callbacksOfAnAnnotatedTypeAreLeftAlone() {
		assertThatNoException().isThrownBy(() -> this.proxies.read(TypeWithCallbacks.class));
	}

	static class SkipOnPrimitive {

		@DistributedLock(onBusy = OnBusy.SKIP)
		int run() {
			return 1;
		}

	}

	/** As the compiler of Kotlin marks its classes. */
	@Metadata
	static class FinalOfKotlin {

		@DistributedLock
		final void run() {
		}

	}

	static class OfFuture {

		@DistributedLock
		Future<String> run() {
			return new CompletableFuture<>();
		}

	}

	static class OfStageOfStreams {

		@DistributedLock
		CompletableFuture<Stream<String>> run() {
			return new CompletableFuture<>();
		}

	}

	static class OfFluxOfFluxes {

		@DistributedLock
		Flux<Flux<String>> run() {
			return Flux.never();
		}

	}

	static class OfFutureTask {

		@DistributedLock
		FutureTask<String> run() {
			return new FutureTask<>(() -> "done");
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

	static class OfStream {

		@DistributedLock
		Stream<String> run() {
			return Stream.of();
		}

	}

	static class OfFuturesInAMap {

		@DistributedLock
		Map<String, CompletableFuture<String>> run() {
			return Map.of();
		}

	}

	static class Constructed {

		@PostConstruct
		void run() {
		}

	}

	static class Reconstructing extends Constructed {

		@Override
		@DistributedLock
		void run() {
		}

	}

	static class Injected {

		@Autowired
		@DistributedLock
		void run(Object dependency) {
		}

	}

	static class JakartaInjected {

		@Inject
		@DistributedLock
		void run(Object dependency) {
		}

	}

	static class AwareOfName implements BeanNameAware {

		@Override
		@DistributedLock
		public void setBeanName(String name) {
		}

	}

	@DistributedLock(name = "framework")
	static class OfFramework extends ApplicationObjectSupport {

		public void run() {
		}

	}

	static class Factory {

		@Bean
		@DistributedLock
		String run() {
			return "";
		}

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
