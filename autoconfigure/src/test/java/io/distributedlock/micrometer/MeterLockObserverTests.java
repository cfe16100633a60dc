package io.distributedlock.micrometer;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockKey;
import io.distributedlock.LossReason;
import io.distributedlock.provider.RenewalOutcome;

import static org.assertj.core.api.Assertions.assertThat;

class MeterLockObserverTests {

	private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

	private final MeterLockObserver observer = new MeterLockObserver(this.registry, "jdbc");

	private final LockKey key = LockKey.of("orders", "7");

	private double count(String meter, String... tags) {
		return this.registry.get(meter).tags("lock.name", "orders").tags(tags).counter().count();
	}

	@Test
	void handOffsAreCounted() {
		this.observer.onHandOff(this.key);
		this.observer.onHandOff(this.key);
		assertThat(count("distributed.lock.handoffs", "lock.provider", "jdbc")).isEqualTo(2);
	}

	@Test
	void skippedCallsAreCounted() {
		this.observer.onSkip(this.key);
		assertThat(count("distributed.lock.skipped", "lock.provider", "jdbc")).isEqualTo(1);
	}

	@Test
	void unlockedCallsAreCountedByTheirProvider() {
		MeterLockObserver ofLocal = this.observer.ofProvider("local");
		assertThat(this.observer.ofProvider("local")).isSameAs(ofLocal);
		assertThat(this.observer.ofProvider("jdbc")).isSameAs(this.observer);
		this.observer.onUnlockedCall("orders");
		ofLocal.onUnlockedCall("orders");
		ofLocal.onUnlockedCall("orders");
		assertThat(count("distributed.lock.unlocked", "lock.provider", "jdbc")).isEqualTo(1);
		assertThat(count("distributed.lock.unlocked", "lock.provider", "local")).isEqualTo(2);
	}

	@Test
	void renewalsAndLossesAreCounted() {
		this.observer.onRenewal(this.key, RenewalOutcome.NOT_HELD);
		this.observer.onLost(this.key, LossReason.MAX_HOLD);
		assertThat(count("distributed.lock.renewals", "outcome", "not_held")).isEqualTo(1);
		assertThat(count("distributed.lock.lost", "reason", "max_hold")).isEqualTo(1);
	}

	@Test
	void countersOfANameAppearTogether() {
		this.observer.register("orders");
		int meters = this.registry.getMeters().size();
		this.observer.onHandOff(this.key);
		this.observer.onRenewal(LockKey.of("orders", "8"), RenewalOutcome.RENEWED);
		assertThat(this.registry.getMeters()).hasSize(meters);
	}

	@Test
	void namesBeyondTheCapShareTheirCounters() {
		for (int i = 0; i < 2 * LockNames.MAX_NAMES; i++) {
			this.observer.onSkip(LockKey.of("name-" + i));
		}
		assertThat(this.registry.get("distributed.lock.skipped").counters()).hasSize(LockNames.MAX_NAMES + 1);
		assertThat(this.registry.get("distributed.lock.skipped").tags("lock.name", "(other)").counter().count())
			.isEqualTo(LockNames.MAX_NAMES);
	}

}
