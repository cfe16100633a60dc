package io.distributedlock;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class LockContextTests {

	private final Object source = new Object();

	private final LockLease outer = new NamedLease("outer");

	private final LockLease inner = new NamedLease("inner");

	@Test
	void threadWithoutAScopeHasNoCurrentLock() {
		assertThat(LockContext.find()).isEmpty();
		assertThatIllegalStateException().isThrownBy(LockContext::current).withMessageContaining("@DistributedLock");
	}

	@Test
	void innermostScopeIsCurrentUntilItCloses() {
		try (LockContext.Scope first = LockContext.open(this.source, this.outer)) {
			assertThat(LockContext.current()).isSameAs(this.outer);
			try (LockContext.Scope second = LockContext.open(this.source, this.inner)) {
				assertThat(LockContext.current()).isSameAs(this.inner);
				assertThat(LockContext.find(this.source, LockKey.of("outer"))).isSameAs(this.outer);
				assertThat(second).isNotSameAs(first);
			}
			assertThat(LockContext.current()).isSameAs(this.outer);
			assertThat(LockContext.find(this.source, LockKey.of("inner"))).isNull();
		}
		assertThat(LockContext.find()).isEmpty();
	}

	@Test
	void onlyTheSameSourceAndKeyAreFound() {
		try (LockContext.Scope scope = LockContext.open(this.source, this.outer)) {
			assertThat(scope).isNotNull();
			assertThat(LockContext.find(new Object(), LockKey.of("outer"))).isNull();
			assertThat(LockContext.find(this.source, LockKey.of("other"))).isNull();
		}
	}

	@Test
	void scopeBelongsToItsThread() {
		try (LockContext.Scope scope = LockContext.open(this.source, this.outer)) {
			assertThat(scope).isNotNull();
			assertThat(CompletableFuture.supplyAsync(LockContext::find).join()).isEmpty();
		}
	}

	private record NamedLease(String name) implements LockLease {

		@Override
		public @Nullable LossReason lossReason() {
			return null;
		}

		@Override
		public List<LockKey> keys() {
			return List.of(LockKey.of(this.name));
		}

		@Override
		public FencingToken fencingToken() {
			return FencingToken.of(1, 0);
		}

		@Override
		public FencingToken fencingToken(LockKey key) {
			return fencingToken();
		}

		@Override
		public boolean isHeld() {
			return true;
		}

		@Override
		public Duration remaining() {
			return Duration.ofSeconds(1);
		}

		@Override
		public void ensureHeld() {
			// Held for the whole test.
		}

		@Override
		public void onLost(Runnable action) {
			// Never lost.
		}

		@Override
		public void close() {
			// Nothing to release.
		}

	}

}
