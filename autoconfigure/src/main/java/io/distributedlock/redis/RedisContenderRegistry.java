package io.distributedlock.redis;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The contenders of this process that stand in line, by the names of their locks. */
final class RedisContenderRegistry {

	private final Map<String, Set<RedisContender>> byLock = new ConcurrentHashMap<>();

	void add(RedisContender contender) {
		this.byLock.compute(contender.names().text(), (lock, present) -> {
			Set<RedisContender> contenders = (present != null) ? present : ConcurrentHashMap.newKeySet(1);
			contenders.add(contender);
			return contenders;
		});
	}

	void remove(RedisContender contender) {
		this.byLock.computeIfPresent(contender.names().text(), (lock, contenders) -> {
			contenders.remove(contender);
			return contenders.isEmpty() ? null : contenders;
		});
	}

	/**
	 * Tells those who wait for a lock to look.
	 * @return whether there was anybody
	 */
	boolean signal(String lock) {
		boolean anybody = false;
		for (RedisContender contender : this.byLock.getOrDefault(lock, Set.of())) {
			anybody = true;
			contender.signal();
		}
		return anybody;
	}

	/** Tells everybody to look. */
	void signalAll() {
		List<Collection<RedisContender>> all = List.copyOf(this.byLock.values());
		all.forEach((contenders) -> contenders.forEach(RedisContender::signal));
	}

	int size() {
		return this.byLock.size();
	}

}
