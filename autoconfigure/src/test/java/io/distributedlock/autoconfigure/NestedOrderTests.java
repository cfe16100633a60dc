package io.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.distributedlock.LockContext;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.local.LocalStore;
import io.distributedlock.provider.LockTimer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The warning of nested requests against the order of keys. In this package, because the
 * warning leaves out the code of the engine when it names the place of a request.
 */
@ExtendWith(OutputCaptureExtension.class)
class NestedOrderTests {

	private static final LockRequest A = LockRequest.of(LockKey.of("a", "1"));

	private static final LockRequest B = LockRequest.of(LockKey.of("b", "2"));

	private final LockTimer timer = new LockTimer();

	private final LockTemplate locks = new LockTemplate(new LocalLockProvider(new LocalStore()),
			LockSettings.defaults(), this.timer, List.of(), List.of());

	@AfterEach
	void close() {
		this.locks.close();
		this.timer.close();
	}

	@Test
	void warningNamesBothMethodsAndThePlaceOfTheCall(CapturedOutput output) {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
			.withPropertyValues("distributed-lock.provider=local")
			.withBean(Accounts.class)
			.withBean(Transfers.class)
			.run((context) -> {
				Transfers transfers = context.getBean(Transfers.class);
				transfers.move(context.getBean(Accounts.class), 7);
				transfers.move(context.getBean(Accounts.class), 8);
			});
		assertThat(warnings(output)).singleElement()
			.asString()
			.contains(" WARN ")
			.endsWith("DL-624: The lock 'Accounts.debit:7' was requested by " + Transfers.class.getName()
					+ ".move(NestedOrderTests.java:" + Transfers.line() + ") while the lock 'Transfers.move:7' is held,"
					+ " although its key sorts before that one: a call that nests these two the other way round and"
					+ " this one can wait for each other until a wait time is over. Request both keys at once, which"
					+ " acquires them in order, or nest them in the order of their keys everywhere");
	}

	@Test
	void everyWayToRequestIsChecked(CapturedOutput output) {
		LockRequest both = LockRequest.ofAll(List.of(LockKey.of("c"), LockKey.of("z1")));
		LockRequest outer = LockRequest.of(LockKey.of("z1"));
		this.locks.execute(outer, (lease) -> {
			this.locks.execute(both, (inner) -> null);
			this.locks.acquire(LockRequest.of(LockKey.of("d"))).close();
			this.locks.tryAcquire(LockRequest.of(LockKey.of("e")).withWaitTime(Duration.ofSeconds(5))).close();
			this.locks.executeAsync(LockRequest.of(LockKey.of("f")), (inner) -> null);
			this.locks.acquireAsync(LockRequest.of(LockKey.of("g")), List.of(lease)).join().close();
			return null;
		});
		assertThat(warnings(output)).hasSize(5).allMatch((warning) -> warning.contains("while the lock 'z1' is held"));
	}

	@Test
	void otherNestedRequestsAreNotSuspected(CapturedOutput output) {
		nest(A, B);
		nest(B, A.withWaitTime(Duration.ZERO));
		this.locks.executeWithoutResult(B, (lease) -> this.locks.tryAcquire(A).close());
		nest(B, B);
		nest(LockRequest.ofAll(List.of(LockKey.of("b", "2"), LockKey.of("a", "1"))), A);
		nest(A, LockRequest.ofAll(List.of(LockKey.of("b", "2"), LockKey.of("a", "1"))));
		LockLease travelling = this.locks.acquire(B);
		this.locks.acquire(A).close();
		travelling.close();
		assertThat(warnings(output)).isEmpty();
	}

	@Test
	void lockThatWasReleasedIsNoObstacle(CapturedOutput output) {
		LockLease released = this.locks.acquire(B);
		try (LockContext.Scope scope = LockContext.open(released)) {
			released.close();
			this.locks.acquire(A).close();
		}
		assertThat(warnings(output)).isEmpty();
	}

	@Test
	void pairsOfNamesAreBounded(CapturedOutput output) {
		this.locks.execute(LockRequest.of(LockKey.of("z")), (lease) -> {
			for (int i = 0; i < 1000 + 10; i++) {
				this.locks.acquire(LockRequest.of(LockKey.of("a" + i))).close();
			}
			return null;
		});
		assertThat(warnings(output)).hasSize(1000);
	}

	private void nest(LockRequest outer, LockRequest inner) {
		this.locks.execute(outer, (lease) -> this.locks.execute(inner, (nested) -> null));
	}

	private static List<String> warnings(CapturedOutput output) {
		return output.toString().lines().filter((line) -> line.contains("DL-624")).toList();
	}

	static class Accounts {

		@DistributedLock("#id")
		public void debit(long id) {
		}

	}

	static class Transfers {

		static int line() {
			return new Throwable().getStackTrace()[0].getLineNumber() + 5;
		}

		@DistributedLock("#id")
		public void move(Accounts accounts, long id) {
			accounts.debit(id);
		}

	}

}
