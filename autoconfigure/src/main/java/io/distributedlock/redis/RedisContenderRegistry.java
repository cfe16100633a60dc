package io.distributedlock.redis;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.distributedlock.redis.script.RedisLockKeys;

/**
 * The contenders of this process that are in a wait queue, by the names of their locks.
 * Safe for use by many threads.
 */
final class RedisContenderRegistry {

	private static final Log logger = LogFactory.getLog(RedisContenderRegistry.class);

	private final Map<String, Set<Contender>> byLock = new ConcurrentHashMap<>();

	void add(Contender contender) {
		this.byLock.compute(contender.lockName(), (lock, present) -> {
			Set<Contender> contenders = (present != null) ? present : ConcurrentHashMap.newKeySet(1);
			contenders.add(contender);
			return contenders;
		});
	}

	void remove(Contender contender) {
		this.byLock.computeIfPresent(contender.lockName(), (lock, contenders) -> {
			contenders.remove(contender);
			return contenders.isEmpty() ? null : contenders;
		});
	}

	/**
	 * Notifies the contenders for one lock.
	 * @return whether there is such a contender
	 */
	boolean notify(String lockName) {
		boolean found = false;
		for (Contender contender : this.byLock.getOrDefault(lockName, Set.of())) {
			found = true;
			callOrLog(contender, Contender::onNotified);
		}
		return found;
	}

	/** Tells all contenders that the subscription was confirmed. */
	void subscribed() {
		List<Collection<Contender>> all = List.copyOf(this.byLock.values());
		all.forEach((contenders) -> contenders.forEach((contender) -> callOrLog(contender, Contender::onSubscribed)));
	}

	/** Calls a contender; one that fails keeps no other one from its call. */
	private static void callOrLog(Contender contender, Consumer<Contender> call) {
		try {
			call.accept(contender);
		}
		catch (RuntimeException | Error ex) {
			logger.error("The contender for '" + contender.lockName() + "' could not be notified", ex);
		}
	}

	/** The number of locks for which contenders wait. */
	int size() {
		return this.byLock.size();
	}

	/** A contender that a notification causes to attempt again. */
	interface Contender {

		/** The name of the lock, as {@link RedisLockKeys#name()} has it. */
		String lockName();

		/**
		 * Causes the next attempt, because the lock is reserved for this process; must
		 * not block.
		 */
		void onNotified();

		/**
		 * Causes the next attempt, because the subscription was confirmed, and
		 * notifications before that may be lost; must not block.
		 */
		void onSubscribed();

	}

}
