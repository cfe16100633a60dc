package io.distributedlock.interceptor;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.logging.LogLevel;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.env.StandardEnvironment;

import io.distributedlock.InvalidLockKeyException;
import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockContext;
import io.distributedlock.LockError;
import io.distributedlock.annotation.AnnotationLockAttributeSource;
import io.distributedlock.annotation.DistributedLock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatRuntimeException;

@ExtendWith(OutputCaptureExtension.class)
class LockConditionTests {

	private final RecordingLockOperations operations = new RecordingLockOperations();

	private final LockedProxies proxies = new LockedProxies(this.operations);

	private final Orders orders = this.proxies.bean("large", new Large()).ofClass(new Orders());

	@Test
	void trueConditionLocks() {
		assertThat(this.orders.pay(true, "7")).isEqualTo("locked");
		assertThat(this.operations.keys()).containsExactly("Orders.pay:7");
	}

	@Test
	void falseConditionRunsTheBodyWithoutTheLock() {
		assertThat(this.orders.pay(false, "7")).isEqualTo("unlocked");
		assertThat(this.operations.requests()).isEmpty();
	}

	@Test
	void conditionIsEvaluatedBeforeTheKey() {
		assertThat(this.orders.pay(false, null)).isEqualTo("unlocked");
		assertThatExceptionOfType(InvalidLockKeyException.class).isThrownBy(() -> this.orders.pay(true, null))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NULL_KEY));
	}

	@Test
	void exceptionsOfAnUnlockedBodyAreItsOwn() {
		assertThatRuntimeException().isThrownBy(() -> this.orders.fail(false)).withMessage("own");
	}

	@Test
	void conditionMayAskABeanAndAPlaceholder() {
		assertThat(this.orders.largeOnly(3)).isEqualTo("unlocked");
		assertThat(this.orders.largeOnly(300)).isEqualTo("locked");
		assertThat(this.orders.never()).isEqualTo("unlocked");
	}

	@Test
	void stagesAndPublishersRunWithoutTheLock() {
		assertThat(this.orders.stage(false).join()).isEqualTo("unlocked");
		assertThat(this.orders.mono(false).block()).isEqualTo("unlocked");
		assertThat(this.orders.flux(false).collectList().block()).containsExactly("unlocked");
		assertThat(this.operations.requests()).isEmpty();
		assertThat(this.orders.stage(true).join()).isEqualTo("locked");
		assertThat(this.operations.requests()).hasSize(1);
		this.operations.busy();
		assertThatRuntimeException().isThrownBy(() -> this.orders.mono(true).block()).withMessageContaining("DL-101");
		assertThatRuntimeException().isThrownBy(() -> this.orders.flux(true).blockLast())
			.withMessageContaining("DL-101");
	}

	@Test
	void enclosingLockStaysTheCurrentOne() {
		assertThat(this.orders.nested(this.orders)).isEqualTo("unlocked inside Orders.nested");
	}

	@Test
	void conditionThatIsNoExpressionFailsTheStart() {
		this.proxies.assertRefused(Broken.class, LockError.INVALID_EXPRESSION, "run", "The condition '#id =='");
		this.proxies.assertRefused(BareWord.class, LockError.INVALID_EXPRESSION, "run", "The condition 'enabled'");
	}

	@Test
	void unknownVariableFailsTheStart() {
		this.proxies.assertRefused(Unknown.class, LockError.UNKNOWN_VARIABLE, "run",
				"The condition '#other' of locked method " + Unknown.class.getName() + ".run");
	}

	@Test
	void valueThatIsNeitherTrueNorFalseFailsTheCall() {
		assertRefused(() -> this.orders.anything(null), "is neither true nor false, but null");
		assertRefused(() -> this.orders.anything("true"), "but of type java.lang.String");
		assertRefused(() -> this.orders.anything(1), "but of type java.lang.Integer");
		assertThat(this.orders.ran).isZero();
		assertThat(this.operations.requests()).isEmpty();
	}

	@Test
	void conditionThatFailsIsNoReasonToRun() {
		assertRefused(() -> this.orders.property(null), "could not be evaluated");
		assertThat(this.orders.ran).isZero();
	}

	private static void assertRefused(ThrowingCallable call, String fact) {
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(call)
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.CONDITION_EVALUATION))
			.withMessageStartingWith("DL-620: The condition '")
			.withMessageContaining(Orders.class.getName())
			.withMessageContaining(fact);
	}

	@Test
	void unlockedCallIsLoggedAndCounted(CapturedOutput output) {
		List<String> unlocked = new ArrayList<>();
		Orders observed = observed((event) -> unlocked.add(event));
		LoggingSystem logging = LoggingSystem.get(getClass().getClassLoader());
		logging.setLogLevel(LockInterceptor.class.getName(), LogLevel.DEBUG);
		try {
			observed.pay(false, "7");
			observed.pay(true, "7");
		}
		finally {
			logging.setLogLevel(LockInterceptor.class.getName(), null);
		}
		assertThat(unlocked).containsExactly("Orders.pay of null");
		assertThat(output).containsOnlyOnce("The condition '#urgent' of locked method " + Orders.class.getName()
				+ ".pay(boolean, String) is false: the call runs without the lock 'Orders.pay'");
	}

	private Orders observed(Consumer<String> unlocked) {
		LockedMethodRegistry methods = new LockedMethodRegistry(
				new AnnotationLockAttributeSource(new StandardEnvironment()::resolvePlaceholders),
				new DefaultListableBeanFactory(), new LockedCallObserver() {
					@Override
					public void onUnlockedCall(String name, @Nullable String provider) {
						unlocked.accept(name + " of " + provider);
					}
				});
		ProxyFactory factory = new ProxyFactory(new Orders());
		factory.setProxyTargetClass(true);
		factory.addAdvisor(new LockAdvisor(new LockInterceptor(methods, (provider) -> this.operations), methods,
				LockAdvisor.DEFAULT_ORDER));
		return (Orders) factory.getProxy();
	}

	static class Orders {

		int ran;

		@DistributedLock(key = "#id", condition = "#urgent")
		String pay(boolean urgent, @Nullable String id) {
			return state();
		}

		@DistributedLock(condition = "#locked")
		void fail(boolean locked) {
			throw new IllegalStateException("own");
		}

		@DistributedLock(condition = "@large.test(#p0)")
		String largeOnly(int total) {
			return state();
		}

		@DistributedLock(condition = "${app.locks:false}")
		String never() {
			return state();
		}

		@DistributedLock(condition = "#locked")
		CompletableFuture<String> stage(boolean locked) {
			return CompletableFuture.completedFuture(state());
		}

		@DistributedLock(condition = "#locked")
		Mono<String> mono(boolean locked) {
			return Mono.fromSupplier(Orders::state);
		}

		@DistributedLock(condition = "#locked")
		Flux<String> flux(boolean locked) {
			return Flux.defer(() -> Flux.just(state()));
		}

		@DistributedLock
		String nested(Orders proxy) {
			return proxy.inner(false);
		}

		@DistributedLock(condition = "#locked")
		String inner(boolean locked) {
			return "unlocked inside " + LockContext.current().keys().get(0).encoded();
		}

		@DistributedLock(condition = "#value")
		void anything(@Nullable Object value) {
			this.ran++;
		}

		@DistributedLock(condition = "#value.length() > 1")
		void property(@Nullable String value) {
			this.ran++;
		}

		private static String state() {
			return LockContext.find().isPresent() ? "locked" : "unlocked";
		}

	}

	static class Large {

		public boolean test(int total) {
			return total > 100;
		}

	}

	static class Broken {

		@DistributedLock(condition = "#id ==")
		void run(String id) {
		}

	}

	static class BareWord {

		@DistributedLock(condition = "enabled")
		void run() {
		}

	}

	static class Unknown {

		@DistributedLock(condition = "#other")
		void run(String id) {
		}

	}

}
