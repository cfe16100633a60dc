package io.distributedlock;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class LockContextTests {

	private final LockLease outer = new NamedLease("outer", null);

	private final LockLease inner = new NamedLease("inner", null);

	@Test
	void threadWithoutAScopeHasNoCurrentLock() {
		assertThat(LockContext.find()).isEmpty();
		assertThatIllegalStateException().isThrownBy(LockContext::current).withMessageContaining("Spring proxy");
	}

	@Test
	void innermostScopeIsCurrentUntilItCloses() {
		try (LockContext.Scope first = LockContext.open(this.outer)) {
			assertThat(LockContext.current()).isSameAs(this.outer);
			try (LockContext.Scope second = LockContext.open(this.inner)) {
				assertThat(LockContext.current()).isSameAs(this.inner);
				assertThat(LockContext.findAll()).containsExactly(this.inner, this.outer);
				assertThat(second).isNotSameAs(first);
			}
			assertThat(LockContext.current()).isSameAs(this.outer);
			assertThat(LockContext.findAll()).containsExactly(this.outer);
		}
		assertThat(LockContext.find()).isEmpty();
		assertThat(LockContext.findAll()).isEmpty();
	}

	@Test
	void lossIsIgnoredInTheScopesOfTheSameHandleOnly() {
		LockLease lost = new NamedLease("lost", LossReason.EXPIRED);
		try (LockContext.Scope first = LockContext.open(lost); LockContext.Scope second = LockContext.open(lost)) {
			assertThat(first).isNotSameAs(second);
			assertThatIllegalStateException().isThrownBy(LockContext::ensureNoneLost);
			second.ignoreLoss();
			LockContext.ensureNoneLost();
			try (LockContext.Scope third = LockContext.open(new NamedLease("other", LossReason.EXPIRED))) {
				assertThat(third).isNotNull();
				assertThatIllegalStateException().isThrownBy(LockContext::ensureNoneLost);
			}
		}
	}

	@Test
	void scopeBelongsToItsThread() {
		try (LockContext.Scope scope = LockContext.open(this.outer)) {
			assertThat(scope).isNotNull();
			assertThat(CompletableFuture.supplyAsync(LockContext::find).join()).isEmpty();
		}
	}

	@Test
	void scopeOfAnotherThreadIsNotClosed() {
		try (LockContext.Scope scope = LockContext.open(this.outer)) {
			assertThat(CompletableFuture.supplyAsync(() -> {
				assertThatIllegalStateException().isThrownBy(scope::close).withMessageContaining("another thread");
				return LockContext.find();
			}).join()).isEmpty();
			assertThat(LockContext.current()).isSameAs(this.outer);
		}
	}

	@Test
	void closingAScopeClosesThoseLeftOpenInside() {
		LockContext.Scope left;
		try (LockContext.Scope scope = LockContext.open(this.outer)) {
			assertThat(scope).isNotNull();
			left = LockContext.open(this.inner);
		}
		assertThat(LockContext.find()).isEmpty();
		left.close();
		assertThat(LockContext.find()).isEmpty();
	}

	@Test
	void unorderedScopeOutlastsTheScopesAroundIt() {
		LockLease another = new NamedLease("another", null);
		LockContext.Scope around = LockContext.open(this.outer);
		LockContext.Scope unordered = LockContext.openUnordered(this.inner);
		LockContext.Scope left = LockContext.open(another);
		assertThat(LockContext.findAll()).containsExactly(another, this.inner, this.outer);
		around.close();
		assertThat(LockContext.findAll()).containsExactly(this.inner);
		left.close();
		LockContext.Scope next = LockContext.open(another);
		unordered.close();
		unordered.close();
		assertThat(LockContext.findAll()).containsExactly(another);
		next.close();
		assertThat(LockContext.find()).isEmpty();
	}

	@Test
	void outermostScopeIsAroundThoseThatAreOpen() {
		LockLease bound = new NamedLease("bound", null);
		LockLease laterBound = new NamedLease("later bound", null);
		LockContext.Scope outermost;
		LockContext.Scope later;
		try (LockContext.Scope call = LockContext.open(this.outer)) {
			assertThat(LockContext.findAll()).containsExactly(this.outer);
			outermost = LockContext.openOutermost(bound);
			assertThat(LockContext.findAll()).containsExactly(this.outer, bound);
			later = LockContext.openOutermost(laterBound);
			assertThat(LockContext.findAll()).containsExactly(this.outer, laterBound, bound);
			assertThat(call).isNotNull();
		}
		assertThat(LockContext.findAll()).containsExactly(laterBound, bound);
		outermost.close();
		outermost.close();
		assertThat(LockContext.findAll()).containsExactly(laterBound);
		later.close();
		assertThat(LockContext.find()).isEmpty();
	}

	@Test
	void outermostScopeIsClosedByAnotherThread() {
		LockContext.Scope first = LockContext.openOutermost(new NamedLease("first", LossReason.EXPIRED));
		LockContext.Scope second = LockContext.openOutermost(this.inner);
		try (LockContext.Scope call = LockContext.open(this.outer)) {
			assertThat(call).isNotNull();
			assertThat(LockContext.findAll()).hasSize(3);
			CompletableFuture.runAsync(first::close).join();
			assertThat(LockContext.findAll()).containsExactly(this.outer, this.inner);
			LockContext.ensureNoneLost();
			CompletableFuture.runAsync(second::close).join();
			assertThat(LockContext.findAll()).containsExactly(this.outer);
		}
		assertThat(LockContext.find()).isEmpty();
	}

	@Test
	void ignoredLossIsHeededAfterAnotherCallForTheKey() {
		LockLease lost = new NamedLease("lost", LossReason.EXPIRED);
		LockContext.Scope outermost = LockContext.openOutermost(lost);
		try (LockContext.Scope ignoring = LockContext.open(lost)) {
			ignoring.ignoreLoss();
		}
		LockContext.open(this.inner).close();
		LockContext.ensureNoneLost();
		LockContext.open(new NamedLease("lost", LossReason.EXPIRED)).close();
		assertThatIllegalStateException().isThrownBy(LockContext::ensureNoneLost);
		outermost.close();
	}

	@Test
	void lockThatEndsSoonIsNotedByTheMargin() {
		try (LockContext.Scope scope = LockContext.open(this.outer)) {
			LockContext.ensureNoneLost(Duration.ofSeconds(1));
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> LockContext.ensureNoneLost(Duration.ofMillis(1001)))
				.withMessageStartingWith("DL-204: Lock 'outer' has 1000 ms left")
				.withMessageContaining("1001 ms")
				.withMessageContaining("commit-margin");
			scope.ignoreLoss();
			LockContext.ensureNoneLost(Duration.ofMillis(1001));
		}
	}

	private record NamedLease(String name, @Nullable LossReason lossReason) implements LockLease {

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
			if (this.lossReason != null) {
				throw new IllegalStateException("lost");
			}
		}

		@Override
		public LossRegistration onLost(Runnable action) {
			return () -> {
				// Never lost.
			};
		}

		@Override
		public void close() {
			// Nothing to release.
		}

		@Override
		public CompletableFuture<Void> closeAsync() {
			return CompletableFuture.completedFuture(null);
		}

	}

}
