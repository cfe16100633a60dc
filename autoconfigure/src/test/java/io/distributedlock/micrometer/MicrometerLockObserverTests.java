package io.distributedlock.micrometer;

import java.time.Duration;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockKey;
import io.distributedlock.LossReason;
import io.distributedlock.provider.LockObserver;
import io.distributedlock.provider.LockObserver.AcquireOutcome;
import io.distributedlock.provider.RenewalOutcome;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.assertj.core.api.Assertions.assertThat;

class MicrometerLockObserverTests {

	private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

	private final MicrometerLockObserver observer = new MicrometerLockObserver(this.registry, "jdbc");

	private final LockKey key = LockKey.of("orders", "7");

	@Test
	void acquisitionsAreTimedByOutcome() {
		this.observer.onAcquireEnd(this.key, AcquireOutcome.ACQUIRED, Duration.ofMillis(3));
		this.observer.onAcquireEnd(this.key, AcquireOutcome.BUSY, Duration.ofMillis(5));
		assertThat(this.registry.get("distributed.lock.acquire")
			.tags("lock.name", "orders", "lock.provider", "jdbc", "outcome", "busy")
			.timer()
			.totalTime(MILLISECONDS)).isEqualTo(5);
		assertThat(this.registry.get("distributed.lock.acquire")
			.tags("outcome", "acquired", "lock.name", "orders")
			.timer()
			.count()).isEqualTo(1);
	}

	@Test
	void heldLocksAreGauged() {
		this.observer.onHoldStart(this.key);
		this.observer.onHoldStart(LockKey.of("orders", "8"));
		this.observer.onHoldEnd(this.key);
		assertThat(this.registry.get("distributed.lock.held").tags("lock.name", "orders").gauge().value()).isEqualTo(1);
	}

	@Test
	void handOffsAreCounted() {
		this.observer.onHandOff(this.key);
		this.observer.onHandOff(this.key);
		assertThat(this.registry.get("distributed.lock.hand-offs").tags("lock.name", "orders").counter().count())
			.isEqualTo(2);
	}

	@Test
	void skippedCallsAreCounted() {
		this.observer.onSkip(this.key);
		assertThat(this.registry.get("distributed.lock.skipped")
			.tags("lock.name", "orders", "lock.provider", "jdbc")
			.counter()
			.count()).isEqualTo(1);
	}

	@Test
	void unlockedCallsAreCountedByTheirProvider() {
		LockObserver ofLocal = this.observer.ofProvider("local");
		assertThat(this.observer.ofProvider("local")).isSameAs(ofLocal);
		assertThat(this.observer.ofProvider("jdbc")).isSameAs(this.observer);
		this.observer.onUnlockedCall("orders");
		ofLocal.onUnlockedCall("orders");
		ofLocal.onUnlockedCall("orders");
		assertThat(unlocked("jdbc")).isEqualTo(1);
		assertThat(unlocked("local")).isEqualTo(2);
	}

	private double unlocked(String provider) {
		return this.registry.get("distributed.lock.unlocked")
			.tags("lock.name", "orders", "lock.provider", provider)
			.counter()
			.count();
	}

	@Test
	void renewalsAndLossesAreCounted() {
		this.observer.onRenewal(this.key, RenewalOutcome.NOT_HELD);
		this.observer.onLost(this.key, LossReason.MAX_HOLD);
		assertThat(this.registry.get("distributed.lock.renewals")
			.tags("outcome", "not_held", "lock.name", "orders")
			.counter()
			.count()).isEqualTo(1);
		assertThat(this.registry.get("distributed.lock.lost")
			.tags("reason", "max_hold", "lock.name", "orders")
			.counter()
			.count()).isEqualTo(1);
	}

	@Test
	void manyKeysLeaveTheNumberOfMetersAsItIs() {
		this.observer.onHoldStart(this.key);
		int meters = this.registry.getMeters().size();
		for (int i = 0; i < 100_000; i++) {
			LockKey other = LockKey.of("orders", Integer.toString(i));
			this.observer.onAcquireEnd(other, AcquireOutcome.ACQUIRED, Duration.ZERO);
			this.observer.onHoldStart(other);
			this.observer.onHoldEnd(other);
		}
		assertThat(this.registry.getMeters()).hasSize(meters)
			.allSatisfy((meter) -> assertThat(meter.getId().getTags()).noneMatch((tag) -> tag.getValue().equals("7")));
	}

	@Test
	void namesBeyondTheCapShareTheirMeters() {
		for (int i = 0; i < 2 * MicrometerLockObserver.MAX_NAMES; i++) {
			this.observer.onHoldStart(LockKey.of("name-" + i));
		}
		assertThat(this.registry.get("distributed.lock.held").gauges()).hasSize(MicrometerLockObserver.MAX_NAMES + 1);
		assertThat(this.registry.get("distributed.lock.held").tags("lock.name", "(other)").gauge().value())
			.isEqualTo(MicrometerLockObserver.MAX_NAMES);
	}

}
