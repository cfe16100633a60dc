package io.distributedlock;

import java.time.Duration;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * The contract of a store: how one tenure of a key is granted, renewed and given back. A
 * provider knows its store and nothing of waiting threads, queues, schedules, re-entry or
 * metrics; those belong to the engine.
 * <p>
 * Every command is one round trip, ends within the time-out it is given, and is
 * idempotent by owner: a repeated command neither grants a second time nor frees or
 * prolongs another's tenure. The store compares the owner and judges expiry by its own
 * clock. Implementations are safe for use by many threads at once.
 *
 * @since 0.1.0
 */
public interface LockProvider {

	/**
	 * The provider's name, used in messages, thread names and metrics.
	 * @return a short lower-case name such as {@code jdbc}
	 */
	String name();

	/**
	 * Opens this process's place in the contest for a key. Does not talk to the store.
	 * @param key the key
	 * @param changed to be run when the store tells that the key may have become free; it
	 * only signals, may be run by any thread at any time, and a missed run costs no more
	 * than the pause that the last busy answer named
	 * @return the contender; used by one thread at a time
	 */
	Contender enter(LockKey key, Runnable changed);

	/**
	 * Prolongs tenures, in one round trip where the store allows it. A tenure whose lock
	 * has expired in the store is never revived.
	 * @param leases the tenures, each with the time it is to last from now on
	 * @param timeout how long the call may take
	 * @return an outcome for each tenure; one that is missing counts as
	 * {@link RenewalOutcome#UNKNOWN}
	 * @throws LockProviderException if the whole batch failed; what it did is then
	 * unclear
	 */
	Map<Grant, RenewalOutcome> renew(Map<Grant, Duration> leases, Duration timeout);

	/**
	 * Gives a tenure back, if the given owner still has it.
	 * @param key the key
	 * @param owner the owner id of the tenure
	 * @param timeout how long the call may take
	 * @return what the store said; never an exception for a store that fails
	 */
	ReleaseOutcome release(LockKey key, OwnerId owner, Duration timeout);

	/**
	 * Asks the store whether it can answer and holds what this provider needs.
	 * @param timeout how long the call may take
	 * @throws LockException if the store cannot be used, saying why
	 */
	void check(Duration timeout);

	/**
	 * This process's place in the contest for one key. Lives while the process has
	 * waiters for the key.
	 */
	interface Contender {

		/**
		 * Asks for the key in one round trip. If it is free, or already held by
		 * {@code owner}, it is granted; a repeated grant moves no expiry.
		 * @param owner the owner id to be granted
		 * @param lease how long the grant lasts unless renewed
		 * @param willWait whether this process is going to wait if the key is busy, and
		 * so is to stand in line for it
		 * @param timeout how long the call may take
		 * @return whether the key was granted
		 * @throws LockProviderException if the store could not answer; whether the key
		 * was granted is then unclear
		 */
		Attempt attempt(OwnerId owner, Duration lease, boolean willWait, Duration timeout);

		/**
		 * Takes back whatever stands in the store for this process's place in line, and
		 * passes on a reservation made for it. Called once no thread of this process
		 * waits for the key, repeated until it is confirmed.
		 * @param timeout how long the call may take
		 * @return {@link ReleaseOutcome#UNKNOWN} if it has to be repeated
		 */
		ReleaseOutcome withdraw(Duration timeout);

	}

	/** The answer to an attempt. */
	sealed interface Attempt {

		/**
		 * The key is held by the owner that asked.
		 *
		 * @param grant the tenure
		 */
		record Granted(Grant grant) implements Attempt {
		}

		/**
		 * Somebody else holds the key.
		 *
		 * @param retryAfter when to ask again though nothing was signalled; zero means at
		 * once
		 * @param holder who holds it, or {@code null} where the store cannot tell
		 */
		record Busy(Duration retryAfter, @Nullable Holder holder) implements Attempt {
		}

	}

	/**
	 * One tenure of a key, as the store knows it.
	 *
	 * @param key the key
	 * @param owner the owner id under which it stands in the store
	 * @param order a number from 1 to {@link FencingToken#MAX_ORDER} that rises with
	 * every grant of the key
	 * @param validity how long the store keeps the tenure unless it is renewed, counted
	 * from when the command was sent
	 * @param term what may end the tenure before that, or {@code null} where nothing does
	 */
	record Grant(LockKey key, OwnerId owner, long order, Duration validity, @Nullable Term term) {

		/**
		 * A tenure that lasts as long as it is renewed.
		 * @param key the key
		 * @param owner the owner id under which it stands in the store
		 * @param order a number that rises with every grant of the key
		 * @param validity how long the store keeps the tenure unless it is renewed
		 */
		public Grant(LockKey key, OwnerId owner, long order, Duration validity) {
			this(key, owner, order, validity, null);
		}

	}

	/**
	 * A time that ends many tenures together, whatever their leases, such as that of the
	 * session in which they stand. Safe for use by many threads.
	 */
	interface Term {

		/**
		 * Until when the store is relied upon to keep the tenures. Moves on while the
		 * store confirms it.
		 * @return an instant as {@link System#nanoTime()} counts, margins deducted
		 */
		long until();

		/**
		 * Asks to be told when the end is brought forward.
		 * @param signal to be run then, or at once if that has happened; it only signals.
		 * The same one is kept once, however often it is given
		 */
		void onShortened(Runnable signal);

	}

	/** What the store said to a renewal. */
	enum RenewalOutcome {

		/** The tenure lasts the given time from now on. */
		RENEWED,
		/** The tenure has ended: expired, released, or another's. */
		NOT_HELD,
		/** The store could not tell; ask again soon. */
		UNKNOWN

	}

	/** What the store said to a release. */
	enum ReleaseOutcome {

		/** The tenure was there and is gone. */
		RELEASED,
		/** No such tenure was there. */
		NOT_HELD,
		/** The store could not tell; ask again. */
		UNKNOWN

	}

}
