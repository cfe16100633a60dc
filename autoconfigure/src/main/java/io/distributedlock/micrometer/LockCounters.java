package io.distributedlock.micrometer;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;

import io.distributedlock.LossReason;
import io.distributedlock.provider.RenewalOutcome;

/** The counters of one lock name, registered together so that all appear at once. */
final class LockCounters {

	private final MeterRegistry registry;

	/** The counters by outcomes of renewals and by reasons of losses. */
	private final Map<Enum<?>, Counter> byOutcome = new HashMap<>();

	final Counter handOffs;

	final Counter skipped;

	final Counter unlocked;

	LockCounters(MeterRegistry registry, String name, String provider) {
		this.registry = registry;
		Tags tags = Tags.of("lock.name", name, "lock.provider", provider);
		for (RenewalOutcome outcome : RenewalOutcome.values()) {
			this.byOutcome.put(outcome,
					counter("renewals", "Renewals of held locks", tags.and("outcome", text(outcome))));
		}
		for (LossReason reason : LossReason.values()) {
			this.byOutcome.put(reason,
					counter("lost", "Locks lost while their holder still worked", tags.and("reason", text(reason))));
		}
		this.handOffs = counter("handoffs", "Locks handed off inside this process, without the store", tags);
		this.skipped = counter("skipped", "Calls of locked methods that were skipped because the lock was busy", tags);
		this.unlocked = counter("unlocked",
				"Calls of locked methods that ran without the lock because their condition was false", tags);
	}

	private Counter counter(String name, String description, Tags tags) {
		return Counter.builder("distributed.lock." + name).description(description).tags(tags).register(this.registry);
	}

	private static String text(Enum<?> constant) {
		return constant.name().toLowerCase(Locale.ROOT);
	}

	/** Counts a renewal by its outcome, or a loss by its reason. */
	void increment(Enum<?> outcome) {
		Objects.requireNonNull(this.byOutcome.get(outcome)).increment();
	}

}
