package io.distributedlock.slf4j;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;

import io.distributedlock.LockContext;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.local.LocalStore;
import io.distributedlock.provider.LockTimer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

class MdcLockObserverTests {

	private static final LockRequest OUTER = LockRequest.of(LockKey.of("orders", "7"));

	private static final LockRequest INNER = LockRequest.of(LockKey.of("stock", "8"));

	private final LockTimer timer = new LockTimer();

	private final LockTemplate locks = new LockTemplate(new LocalLockProvider(new LocalStore()),
			LockSettings.defaults(), this.timer, List.of(new MdcLockObserver()), List.of());

	@AfterEach
	void close() {
		this.locks.close();
		this.timer.close();
		MDC.clear();
	}

	private static List<String> entries() {
		return Arrays.asList(MDC.get("lock.name"), MDC.get("lock.key"), MDC.get("lock.mode"), MDC.get("lock.token"));
	}

	private static List<String> entries(LockLease lease) {
		LockKey key = lease.keys().get(0);
		return List.of(key.name(), key.toString(), lease.mode(key).name().toLowerCase(Locale.ROOT),
				lease.fencingToken(key).toString());
	}

	@Test
	void bodyIsNamedByItsLock() {
		this.locks.execute(OUTER, (lease) -> assertThat(entries()).isEqualTo(entries(lease)));
		assertThat(entries()).containsOnlyNulls();
	}

	@Test
	void nestedLockIsNamedUntilItsEnd() {
		MDC.put("lock.name", "of the application");
		this.locks.execute(OUTER, (outer) -> {
			this.locks.execute(INNER.shared(), (inner) -> assertThat(entries()).isEqualTo(entries(inner)));
			assertThat(entries()).isEqualTo(entries(outer));
			return null;
		});
		assertThat(entries()).containsExactly("of the application", null, null, null);
	}

	@Test
	void bodyThatFailsLeavesNothing() {
		assertThat(catchThrowable(() -> this.locks.execute(OUTER, (lease) -> {
			throw new StackOverflowError();
		}))).isInstanceOf(StackOverflowError.class);
		assertThat(entries()).containsOnlyNulls();
	}

	@Test
	void startOfAStageIsNamed() {
		CompletableFuture<String> end = new CompletableFuture<>();
		CompletableFuture<String> work = this.locks.executeAsync(OUTER, (lease) -> {
			assertThat(entries()).isEqualTo(entries(lease));
			return end;
		});
		assertThat(entries()).containsOnlyNulls();
		end.complete("done");
		assertThat(work).succeedsWithin(Duration.ofMinutes(1));
	}

	@Test
	void severalKeysAreNamedByTheFirst() {
		this.locks.execute(LockRequest.ofAll(List.of(INNER.keys().get(0), OUTER.keys().get(0))),
				(lease) -> assertThat(entries()).isEqualTo(entries(lease)));
		assertThat(entries()).containsOnlyNulls();
	}

	@Test
	void scopeOfAHandleIsNamed() {
		try (LockLease lease = this.locks.acquire(OUTER)) {
			assertThat(entries()).containsOnlyNulls();
			try (LockContext.Scope scope = LockContext.open(lease)) {
				assertThat(entries()).isEqualTo(entries(lease));
			}
			assertThat(entries()).containsOnlyNulls();
		}
	}

	@Test
	void keysForgeNoLogLine() {
		LockKey hostile = LockKey.of("a\nb", "c\r\u2028d\u202e");
		this.locks.execute(LockRequest.of(hostile), (lease) -> {
			assertThat(MDC.get("lock.name")).isEqualTo("a%u000Ab");
			assertThat(MDC.get("lock.key")).isEqualTo("a%0Ab:c%0D%u2028d%u202E");
			return null;
		});
	}

}
