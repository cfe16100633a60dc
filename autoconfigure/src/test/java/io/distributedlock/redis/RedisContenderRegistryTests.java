package io.distributedlock.redis;

import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class RedisContenderRegistryTests {

	private final RedisContenderRegistry registry = new RedisContenderRegistry();

	private final CountingContender first = new CountingContender("first");

	private final CountingContender second = new CountingContender("second");

	@Test
	void signalReachesAllContendersForTheLockOnly() {
		CountingContender another = new CountingContender("first");
		this.registry.add(this.first);
		this.registry.add(another);
		this.registry.add(this.second);
		assertThat(this.registry.notify("first")).isTrue();
		assertThat(this.first.signals).hasValue(1);
		assertThat(another.signals).hasValue(1);
		assertThat(this.second.signals).hasValue(0);
	}

	@Test
	void signalFindsNoContenderAfterItsRemoval() {
		this.registry.add(this.first);
		this.registry.remove(this.first);
		assertThat(this.registry.notify("first")).isFalse();
		assertThat(this.first.signals).hasValue(0);
		assertThat(this.registry.size()).isZero();
	}

	@Test
	void contenderAddedTwiceIsSignalledAndRemovedOnce() {
		this.registry.add(this.first);
		this.registry.add(this.first);
		this.registry.subscribed();
		assertThat(this.first.signals).hasValue(1);
		this.registry.remove(this.first);
		assertThat(this.registry.size()).isZero();
	}

	@Test
	void confirmationReachesTheContendersForAllLocks() {
		this.registry.add(this.first);
		this.registry.add(this.second);
		this.registry.subscribed();
		assertThat(this.first.signals).hasValue(1);
		assertThat(this.second.signals).hasValue(1);
	}

	@Test
	void contenderThatFailsKeepsNoOtherOneFromItsSignal() {
		for (String lockName : new String[] { "first", "second" }) {
			this.registry.add(new FailingContender(lockName));
		}
		this.registry.add(this.first);
		this.registry.add(this.second);
		this.registry.subscribed();
		assertThat(this.first.signals).hasValue(1);
		assertThat(this.second.signals).hasValue(1);
		assertThat(this.registry.notify("first")).isTrue();
		assertThat(this.first.signals).hasValue(2);
	}

	private record FailingContender(String lockName) implements RedisContenderRegistry.Contender {

		@Override
		public void onNotified() {
			throw new IllegalStateException(this.lockName);
		}

		@Override
		public void onSubscribed() {
			throw new IllegalStateException(this.lockName);
		}

	}

	private static final class CountingContender implements RedisContenderRegistry.Contender {

		private final String lockName;

		private final AtomicInteger signals = new AtomicInteger();

		CountingContender(String lockName) {
			this.lockName = lockName;
		}

		@Override
		public String lockName() {
			return this.lockName;
		}

		@Override
		public void onNotified() {
			this.signals.incrementAndGet();
		}

		@Override
		public void onSubscribed() {
			this.signals.incrementAndGet();
		}

	}

}
