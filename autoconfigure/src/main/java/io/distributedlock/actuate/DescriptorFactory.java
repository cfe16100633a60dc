package io.distributedlock.actuate;

import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import io.distributedlock.FencingToken;
import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.LockSnapshot;
import io.distributedlock.LockSnapshot.Held;
import io.distributedlock.actuate.LockOverview.HeldDescriptor;
import io.distributedlock.actuate.LockOverview.ProviderDescriptor;
import io.distributedlock.actuate.LockOverview.StoreDescriptor;
import io.distributedlock.actuate.LockOverview.StoredDescriptor;
import io.distributedlock.actuate.LockOverview.WaitingDescriptor;
import io.distributedlock.provider.StoredLock;

/**
 * Factory of the descriptors that the endpoint shows, with or without keys.
 *
 * @param keysShown whether keys are shown
 * @param timeout how long a call to a store may take
 */
record DescriptorFactory(boolean keysShown, Duration timeout) {

	/** How many locks of a store are shown. */
	static final int MAX_STORED = 100;

	private static final String MASK = "******";

	/** Describes the locks of a provider; asks the store once. */
	ProviderDescriptor describe(ManagedProvider provider) {
		LockSnapshot snapshot = provider.template().snapshot();
		return new ProviderDescriptor(held(snapshot, (key) -> true), waiting(snapshot, (key) -> true),
				store(provider, snapshot));
	}

	/** Describes one lock; asks the store once. */
	LockDescriptor describe(ManagedProvider provider, LockKey key) {
		LockSnapshot snapshot = provider.template().snapshot();
		List<StoredDescriptor> stored = List.of();
		String error = null;
		try {
			stored = provider.inspector()
				.map((inspector) -> inspector.findAll(key, this.timeout))
				.orElse(List.of())
				.stream()
				.map((found) -> stored(found, snapshot))
				.toList();
		}
		catch (LockException ex) {
			error = ex.getMessage();
		}
		return new LockDescriptor(provider.name(), key.name(), mask(key.encoded()), held(snapshot, key::equals),
				waiting(snapshot, key::equals), stored, error);
	}

	private @Nullable StoreDescriptor store(ManagedProvider provider, LockSnapshot snapshot) {
		try {
			return provider.inspector()
				.flatMap((inspector) -> inspector.list(MAX_STORED + 1, this.timeout))
				.map((locks) -> new StoreDescriptor(
						locks.stream().limit(MAX_STORED).map((lock) -> stored(lock, snapshot)).toList(),
						locks.size() > MAX_STORED, null))
				.orElse(null);
		}
		catch (LockException ex) {
			return new StoreDescriptor(List.of(), false, ex.getMessage());
		}
	}

	private List<HeldDescriptor> held(LockSnapshot snapshot, Predicate<LockKey> filter) {
		return snapshot.held()
			.stream()
			.filter((held) -> filter.test(held.key()))
			.map((held) -> new HeldDescriptor(held.key().name(), mask(held.key().encoded()), held.mode(),
					held.token().toString(), held.requester(), held.heldFor().toMillis(), held.lease().toMillis(),
					held.remaining().toMillis()))
			.toList();
	}

	private List<WaitingDescriptor> waiting(LockSnapshot snapshot, Predicate<LockKey> filter) {
		return snapshot.waiting()
			.stream()
			.filter((waiting) -> filter.test(waiting.key()))
			.map((waiting) -> new WaitingDescriptor(waiting.key().name(), mask(waiting.key().encoded()), waiting.mode(),
					waiting.requester(), waiting.waitedFor().toMillis(), millis(waiting.waitTime())))
			.toList();
	}

	private StoredDescriptor stored(StoredLock lock, LockSnapshot snapshot) {
		FencingToken token = token(lock, snapshot);
		return new StoredDescriptor(name(lock.key()), mask(lock.key()), (token != null) ? token.toString() : null,
				lock.holder().label(), millis(lock.holder().heldFor()), millis(lock.holder().remaining()),
				lock.holder().released());
	}

	/** Of its own grants this process knows the present token. */
	private static @Nullable FencingToken token(StoredLock lock, LockSnapshot snapshot) {
		Long order = lock.order();
		return (order == null) ? null
				: snapshot.held()
					.stream()
					.filter((held) -> held.key().encoded().equals(lock.key()))
					.map(Held::token)
					.filter(lock::isGrantOf)
					.findFirst()
					.orElseGet(() -> FencingToken.of(order, 0));
	}

	private static @Nullable Long millis(@Nullable Duration duration) {
		return (duration != null) ? duration.toMillis() : null;
	}

	/** The rest of a long key may be cut, but hardly its name. */
	private static String name(String key) {
		int end = key.indexOf(':');
		String name = (end < 0) ? key : key.substring(0, end);
		try {
			return LockKey.ofEncoded(name).name();
		}
		catch (IllegalArgumentException ex) {
			return name;
		}
	}

	private String mask(String key) {
		return this.keysShown ? key : MASK;
	}

}
