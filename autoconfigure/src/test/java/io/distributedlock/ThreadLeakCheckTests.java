package io.distributedlock;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.parallel.Isolated;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.willAnswer;
import static org.mockito.Mockito.mock;

@Isolated("a thread of a class that runs beside this one would be reported too")
class ThreadLeakCheckTests {

	private static final String LEAKED = "distributed-lock-leaked";

	private final ThreadLeakCheck check = new ThreadLeakCheck(Duration.ofMillis(200));

	private final Map<Object, Object> stored = new HashMap<>();

	private final ExtensionContext context = context(ThreadLeakCheckTests.class);

	private final CountDownLatch end = new CountDownLatch(1);

	private Thread thread = new Thread();

	@AfterEach
	void endThread() throws InterruptedException {
		this.end.countDown();
		this.thread.join();
	}

	private ExtensionContext context(Class<?> type) {
		ExtensionContext.Store store = mock(ExtensionContext.Store.class);
		willAnswer((call) -> this.stored.put(call.getArgument(0), call.getArgument(1))).given(store).put(any(), any());
		given(store.remove(any(), any())).willAnswer((call) -> this.stored.remove(call.getArgument(0)));
		ExtensionContext context = mock(ExtensionContext.class);
		given(context.getStore(any())).willReturn(store);
		given(context.getDisplayName()).willReturn(type.getSimpleName());
		willAnswer((call) -> type).given(context).getRequiredTestClass();
		return context;
	}

	private void startThread(String name) {
		this.thread = new Thread(() -> {
			try {
				this.end.await();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}, name);
		this.thread.start();
	}

	@Test
	void threadThatOutlivesItsClassFailsTheClass() {
		this.check.beforeAll(this.context);
		startThread(LEAKED);
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> this.check.afterAll(this.context))
			.withMessageStartingWith("ThreadLeakCheckTests left threads behind")
			.withMessageContaining(LEAKED)
			.withMessageContaining("CountDownLatch.await");
	}

	@Test
	void threadThatEndsWithItsClassPasses() {
		ThreadLeakCheck patient = new ThreadLeakCheck();
		patient.beforeAll(this.context);
		startThread(LEAKED);
		this.end.countDown();
		assertThatNoException().isThrownBy(() -> patient.afterAll(this.context));
	}

	@Test
	void threadFromBeforeTheClassPasses() {
		startThread(LEAKED);
		this.check.beforeAll(this.context);
		assertThatNoException().isThrownBy(() -> this.check.afterAll(this.context));
	}

	@Test
	void threadWithAnotherNamePasses() {
		this.check.beforeAll(this.context);
		startThread("application");
		assertThatNoException().isThrownBy(() -> this.check.afterAll(this.context));
	}

	@Test
	void threadOfANestedClassIsCheckedWithItsOuterClass() {
		ExtensionContext nested = context(Nested.class);
		this.check.beforeAll(this.context);
		this.check.beforeAll(nested);
		startThread(LEAKED);
		assertThatNoException().isThrownBy(() -> this.check.afterAll(nested));
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> this.check.afterAll(this.context));
	}

	private static final class Nested {

	}

}
