package io.distributedlock.interceptor;

import java.io.IOException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.core.annotation.AliasFor;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockProviderException;
import io.distributedlock.OnBusy;
import io.distributedlock.annotation.DistributedLock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

class FallbackTests {

	private final RecordingLockOperations operations = new RecordingLockOperations();

	private final LockedProxies proxies = new LockedProxies(this.operations);

	private final Prices prices = this.proxies.ofClass(new Prices());

	@Test
	void freeLockRunsTheMethod() {
		assertThat(this.prices.of(7)).isEqualTo("fresh 7");
	}

	@Test
	void fallbackGetsTheArguments() {
		this.operations.busy();
		assertThat(this.prices.of(7)).isEqualTo("stale 7");
		assertThat(this.prices.boxed(7)).isEqualTo(-7);
	}

	@Test
	void fallbackTakesThePlaceOfAnExplicitFail() {
		this.operations.busy();
		assertThat(this.prices.failing()).isEqualTo("none");
	}

	@Test
	void emptyPlaceholderIsNoFallback() {
		this.operations.busy();
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(this.prices::without);
	}

	@Test
	void fallbackGetsTheException() {
		LockNotAcquiredException busy = new LockNotAcquiredException(LockKey.of("k"), Duration.ZERO, null);
		this.operations.refusing(busy);
		assertThat(this.prices.withException(7, "x")).isSameAs(busy);
		assertThat(this.prices.withSupertype()).isSameAs(busy);
	}

	@Test
	void typeVariablesOfTheMethodMatch() {
		this.operations.busy();
		assertThat(this.prices.generic(String.class, List.of())).isNull();
		assertThat(this.prices.collection(Set.of("x"))).containsExactly("x");
	}

	@Test
	void nameMayBeAPlaceholder() {
		this.operations.busy();
		assertThat(this.prices.ofRegion()).isEqualTo("stale in Europe");
	}

	@Test
	void fallbackOfANothingReturnsNothing() {
		this.operations.busy();
		Prices target = new Prices();
		this.proxies.ofClass(target).nothing();
		assertThat(target.fallbacks).isEqualTo(1);
	}

	@Test
	void exceptionsOfTheFallbackPassUnchanged() {
		this.operations.busy();
		IOException checked = new IOException();
		StackOverflowError error = new StackOverflowError();
		assertThat(catchThrowable(() -> this.prices.throwing(checked))).isSameAs(checked);
		assertThat(catchThrowable(() -> this.prices.throwing(error))).isSameAs(error);
	}

	@Test
	void storeThatCannotAnswerCallsNoFallback() {
		this.operations.refusing(new LockProviderException(LockError.STORE_FAILED, "test", "failed", null));
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> this.prices.of(7));
	}

	@Test
	void busyLockOfTheBodyCallsNoFallback() {
		LockNotAcquiredException busy = new LockNotAcquiredException(LockKey.of("k"), Duration.ZERO, null);
		assertThat(catchThrowable(() -> this.prices.throwing(busy))).isSameAs(busy);
	}

	@Test
	void laterResultsAreThoseOfTheFallback() {
		this.operations.busy();
		assertThat(this.prices.future()).isCompletedWithValue("stale");
		assertThat(this.prices.mono().block()).isEqualTo("stale");
		assertThat(this.prices.flux().collectList().block()).containsExactly("stale", "older");
	}

	@Test
	void fallbackOfAMonoThatThrowsFailsTheMono() {
		this.operations.busy();
		Mono<String> mono = this.prices.failingMono();
		assertThatIllegalStateException().isThrownBy(mono::block);
	}

	@Test
	void nullInPlaceOfAFutureIsATypedError() {
		this.operations.busy();
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(this.prices::nullFuture)
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.UNSUITABLE_RESULT))
			.withMessageContaining("noFuture")
			.withMessageContaining("nullFuture");
	}

	@Test
	void inheritedPrivateAndProtectedMethodsAreFallbacks() {
		this.operations.busy();
		Special special = this.proxies.ofClass(new Special());
		assertThat(special.inBase()).isEqualTo("private of base");
		assertThat(special.inherited()).isEqualTo("overridden");
		assertThat(special.generic("x")).isEqualTo("generic x");
	}

	@Test
	void annotationOfAnInterfaceNamesAMethodOfTheTarget() {
		this.operations.busy();
		assertThat(this.proxies.ofInterface(Source.class, new PrivateSource()).read()).isEqualTo("stale");
		assertThat(this.proxies.ofClass(new PrivateSource()).read()).isEqualTo("stale");
	}

	@Test
	void defaultMethodOfAnInterfaceIsAFallback() {
		this.operations.busy();
		assertThat(this.proxies.ofInterface(Defaulting.class, () -> "fresh").read()).isEqualTo("default");
		assertThat(this.proxies.ofInterface(Defaulting.class, new Object(), () -> "of the proxy").read())
			.isEqualTo("of the proxy");
	}

	@Test
	void fallbackRunsBehindAllProxies() {
		this.operations.busy();
		ProxyFactory inner = new ProxyFactory(new PrivateSource());
		inner.setProxyTargetClass(true);
		assertThat(this.proxies.ofClass((PrivateSource) inner.getProxy()).read()).isEqualTo("stale");
		ProxyFactory innerJdk = new ProxyFactory(new PrivateSource());
		innerJdk.setInterfaces(Source.class);
		assertThat(this.proxies.ofInterface(Source.class, (Source) innerJdk.getProxy()).read()).isEqualTo("stale");
	}

	@Test
	void annotationOfATypeHasAFallback() {
		this.operations.busy();
		assertThat(this.proxies.ofClass(new WholeType()).read("x")).isEqualTo("stale x");
	}

	@Test
	void composedAnnotationNamesTheFallback() {
		this.operations.busy();
		assertThat(this.proxies.ofClass(new Composed()).read()).isEqualTo("stale");
	}

	@Test
	void interfaceWithoutTheFallbackFailsTheCall() {
		this.operations.busy();
		Source source = this.proxies.ofInterface(Source.class, new Object(), () -> "fresh");
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(source::read)
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.FALLBACK_METHOD))
			.withMessageContaining("Source.read()");
	}

	@ParameterizedTest
	@MethodSource("mistakes")
	void mistakeIsRefusedOnFirstRead(Class<?> type, LockError error, String fact) {
		this.proxies.assertRefused(type, error, "read", fact);
	}

	static Stream<Arguments> mistakes() {
		return Stream.of(
				Arguments.of(BesideSkip.class, LockError.FALLBACK_METHOD, "because onBusy = SKIP skips the call"),
				Arguments.of(ComposedOfSkip.class, LockError.FALLBACK_METHOD, "because onBusy = SKIP skips the call"),
				Arguments.of(Unknown.class, LockError.FALLBACK_METHOD,
						"Add the method 'String stale(long, List)' or 'String stale(long, List, LockNotAcquiredException)'"),
				Arguments.of(OtherParameters.class, LockError.FALLBACK_METHOD,
						"does not fit: String " + OtherParameters.class.getName() + ".stale(Integer)"),
				Arguments.of(OtherGenerics.class, LockError.FALLBACK_METHOD, "does not fit"),
				Arguments.of(OtherResult.class, LockError.FALLBACK_METHOD, "does not fit"),
				Arguments.of(OtherOptional.class, LockError.FALLBACK_METHOD, "does not fit"),
				Arguments.of(VoidForResult.class, LockError.FALLBACK_METHOD, "does not fit"),
				Arguments.of(ResultForVoid.class, LockError.FALLBACK_METHOD, "does not fit"),
				Arguments.of(OtherException.class, LockError.FALLBACK_METHOD, "does not fit"),
				Arguments.of(Ambiguous.class, LockError.FALLBACK_METHOD, "Rename all but one"),
				Arguments.of(Itself.class, LockError.FALLBACK_METHOD, "is not the name of another method"),
				Arguments.of(LockedFallback.class, LockError.FALLBACK_METHOD, "is locked itself"),
				Arguments.of(OfLockedType.class, LockError.FALLBACK_METHOD, "is locked itself"));
	}

	static class Prices {

		int fallbacks;

		@DistributedLock(fallback = "stale")
		String of(long id) {
			return "fresh " + id;
		}

		String stale(long id) {
			return "stale " + id;
		}

		String stale(String id) {
			return "another method " + id;
		}

		@DistributedLock(onBusy = OnBusy.FAIL, fallback = "none")
		String failing() {
			return "fresh";
		}

		String none() {
			return "none";
		}

		@DistributedLock(fallback = "${app.nothing:}")
		String without() {
			return "fresh";
		}

		@DistributedLock(fallback = "primitive")
		Integer boxed(int id) {
			return id;
		}

		int primitive(int id) {
			return -id;
		}

		@DistributedLock(fallback = "busy")
		Object withException(long id, String text) {
			return "fresh";
		}

		LockNotAcquiredException busy(long id, String text, LockNotAcquiredException ex) {
			assertThat(id).isEqualTo(7);
			assertThat(text).isEqualTo("x");
			return ex;
		}

		@DistributedLock(fallback = "failed")
		Throwable withSupertype() {
			return new IOException();
		}

		RuntimeException failed(RuntimeException ex) {
			return ex;
		}

		@DistributedLock(fallback = "staleGeneric")
		<T> T generic(Class<T> type, List<? extends T> values) {
			return type.cast("fresh");
		}

		<S> S staleGeneric(Class<S> type, List<? extends S> values) {
			return null;
		}

		@DistributedLock(fallback = "list")
		Collection<String> collection(Set<String> names) {
			return names;
		}

		List<String> list(Set<String> names) {
			return List.copyOf(names);
		}

		@DistributedLock(fallback = "${app.region}")
		String ofRegion() {
			return "fresh";
		}

		String eu() {
			return "stale in Europe";
		}

		@DistributedLock(fallback = "count")
		void nothing() {
		}

		private void count(LockException ex) {
			this.fallbacks++;
		}

		@DistributedLock(fallback = "rethrow")
		void throwing(Throwable ex) throws Throwable {
			throw ex;
		}

		void rethrow(Throwable ex) throws Throwable {
			throw ex;
		}

		@DistributedLock(fallback = "staleFuture")
		CompletableFuture<String> future() {
			return CompletableFuture.completedFuture("fresh");
		}

		CompletableFuture<String> staleFuture() {
			return CompletableFuture.completedFuture("stale");
		}

		@DistributedLock(fallback = "noFuture")
		CompletableFuture<String> nullFuture() {
			return CompletableFuture.completedFuture("fresh");
		}

		CompletableFuture<String> noFuture() {
			return null;
		}

		@DistributedLock(fallback = "staleMono")
		Mono<String> mono() {
			return Mono.just("fresh");
		}

		Mono<String> staleMono() {
			return Mono.just("stale");
		}

		@DistributedLock(fallback = "throwingMono")
		Mono<String> failingMono() {
			return Mono.just("fresh");
		}

		Mono<String> throwingMono() {
			throw new IllegalStateException();
		}

		@DistributedLock(fallback = "staleFlux")
		Flux<String> flux() {
			return Flux.just("fresh");
		}

		Flux<String> staleFlux() {
			return Flux.just("stale", "older");
		}

	}

	static class Base<T> {

		@DistributedLock(fallback = "hidden")
		public String inBase() {
			return "fresh";
		}

		private String hidden() {
			return "private of base";
		}

		protected String stale() {
			return "of base";
		}

		@DistributedLock(fallback = "staleGeneric")
		public T generic(T value) {
			return value;
		}

		protected T staleGeneric(T value) {
			return value;
		}

	}

	static class Special extends Base<String> {

		@DistributedLock(fallback = "stale")
		public String inherited() {
			return "fresh";
		}

		@Override
		protected String stale() {
			return "overridden";
		}

		@Override
		protected String staleGeneric(String value) {
			return "generic " + value;
		}

	}

	interface Source {

		@DistributedLock(fallback = "stale")
		String read();

	}

	static class PrivateSource implements Source {

		private final String stale = "stale";

		@Override
		public String read() {
			return "fresh";
		}

		private String stale() {
			return this.stale;
		}

	}

	@FunctionalInterface
	interface Defaulting {

		@DistributedLock(fallback = "other")
		String read();

		default String other() {
			return "default";
		}

	}

	@DistributedLock(fallback = "stale")
	static class WholeType {

		public String read(String id) {
			return "fresh " + id;
		}

		protected String stale(String id) {
			return "stale " + id;
		}

	}

	@Target(ElementType.METHOD)
	@Retention(RetentionPolicy.RUNTIME)
	@DistributedLock
	@interface OrElse {

		@AliasFor(annotation = DistributedLock.class, attribute = "fallback")
		String value();

	}

	static class Composed {

		@OrElse("stale")
		String read() {
			return "fresh";
		}

		String stale() {
			return "stale";
		}

	}

	@Target(ElementType.METHOD)
	@Retention(RetentionPolicy.RUNTIME)
	@DistributedLock(onBusy = OnBusy.SKIP)
	@interface SkipOrElse {

		@AliasFor(annotation = DistributedLock.class, attribute = "fallback")
		String value() default "";

	}

	static class ComposedOfSkip {

		@SkipOrElse("stale")
		String read() {
			return "fresh";
		}

		String stale() {
			return "stale";
		}

	}

	static class BesideSkip {

		@DistributedLock(onBusy = OnBusy.SKIP, fallback = "stale")
		String read() {
			return "fresh";
		}

		String stale() {
			return "stale";
		}

	}

	static class Unknown {

		@DistributedLock(fallback = "stale")
		String read(long id, List<String> names) {
			return "fresh";
		}

	}

	static class OtherParameters {

		@DistributedLock(fallback = "stale")
		String read(int id) {
			return "fresh";
		}

		String stale(Integer id) {
			return "stale";
		}

	}

	static class OtherGenerics {

		@DistributedLock(fallback = "stale")
		String read(List<String> ids) {
			return "fresh";
		}

		String stale(List<Long> ids) {
			return "stale";
		}

	}

	static class OtherResult {

		@DistributedLock(fallback = "stale")
		String read() {
			return "fresh";
		}

		Object stale() {
			return "stale";
		}

	}

	static class OtherOptional {

		@DistributedLock(fallback = "stale")
		Optional<String> read() {
			return Optional.empty();
		}

		Optional<Long> stale() {
			return Optional.empty();
		}

	}

	static class VoidForResult {

		@DistributedLock(fallback = "stale")
		String read() {
			return "fresh";
		}

		void stale() {
		}

	}

	static class ResultForVoid {

		@DistributedLock(fallback = "stale")
		void read() {
		}

		String stale() {
			return "stale";
		}

	}

	static class OtherException {

		@DistributedLock(fallback = "stale")
		String read() {
			return "fresh";
		}

		String stale(LockProviderException ex) {
			return "stale";
		}

	}

	static class Ambiguous {

		@DistributedLock(fallback = "stale")
		String read() {
			return "fresh";
		}

		String stale() {
			return "stale";
		}

		String stale(Exception ex) {
			return "stale";
		}

	}

	static class Itself {

		@DistributedLock(fallback = "read")
		String read() {
			return "fresh";
		}

	}

	static class LockedFallback {

		@DistributedLock(fallback = "stale")
		String read() {
			return "fresh";
		}

		@DistributedLock
		String stale() {
			return "stale";
		}

	}

	@DistributedLock
	static class OfLockedType {

		@DistributedLock(fallback = "stale")
		public String read() {
			return "fresh";
		}

		public String stale() {
			return "stale";
		}

	}

}
