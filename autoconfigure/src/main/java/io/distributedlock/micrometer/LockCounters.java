package io.distributedlock.micrometer;

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LossReason;
import io.distributedlock.provider.RenewalOutcome;

/** The counters of one lock name, registered together so that all appear at once. */
final class LockCounters {

	private final Map<RenewalOutcome, Counter> renewals;

	private final Map<LossReason, Counter> lost;

	private final Counter handOffs;

	private final Counter skipped;

	private final Counter unlocked;

	LockCounters(MeterRegistry registry, String name, String provider) {
		Tags tags = Tags.of("lock.name", name, "lock.provider", provider);
		this.renewals = each(RenewalOutcome.class,
				(outcome) -> Counter.builder("distributed.lock.renewals")
					.description("Renewals of held locks")
					.tags(tags.and("outcome", outcome))
					.register(registry));
		this.lost = each(LossReason.class,
				(reason) -> Counter.builder("distributed.lock.lost")
					.description("Locks lost while their holder still worked")
					.tags(tags.and("reason", reason))
					.register(registry));
		this.handOffs = Counter.builder("distributed.lock.handoffs")
			.description("Locks handed off inside this process, without the store")
			.tags(tags)
			.register(registry);
		this.skipped = Counter.builder("distributed.lock.skipped")
			.description("Calls of locked methods that were skipped because the lock was busy")
			.tags(tags)
			.register(registry);
		this.unlocked = Counter.builder("distributed.lock.unlocked")
			.description("Calls of locked methods that ran without the lock because their condition was false")
			.tags(tags)
			.register(registry);
	}

	private static <E extends Enum<E>, M> Map<E, M> each(Class<E> type, Function<String, M> meter) {
		Map<E, M> meters = new EnumMap<>(type);
		for (E constant : type.getEnumConstants()) {
			meters.put(constant, meter.apply(constant.name().toLowerCase(Locale.ROOT)));
		}
		return meters;
	}

	void handedOff() {
		this.handOffs.increment();
	}

	void skipped() {
		this.skipped.increment();
	}

	void ranUnlocked() {
		this.unlocked.increment();
	}

	void renewed(RenewalOutcome outcome) {
		increment(this.renewals.get(outcome));
	}

	void lost(LossReason reason) {
		increment(this.lost.get(reason));
	}

	private static void increment(@Nullable Counter counter) {
		if (counter != null) {
			counter.increment();
		}
	}

}
