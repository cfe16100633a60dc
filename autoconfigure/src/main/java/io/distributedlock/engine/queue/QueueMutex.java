package io.distributedlock.engine.queue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The lock of keys' states. What follows an event runs once the lock is released: nothing
 * of the store and of the application runs under it.
 */
final class QueueMutex {

	private static final Log logger = LogFactory.getLog(QueueMutex.class);

	private final ReentrantLock lock = new ReentrantLock();

	/** What follows the event, in order; guarded by the lock. */
	private @Nullable List<Runnable> following;

	void lock() {
		this.lock.lock();
	}

	/** Releases the lock, and runs what follows. */
	void unlock() {
		List<Runnable> actions = this.following;
		this.following = null;
		this.lock.unlock();
		if (actions != null) {
			actions.forEach(QueueMutex::run);
		}
	}

	/** Adds an action that follows the event. Called under the lock. */
	void follow(Runnable action) {
		if (this.following == null) {
			this.following = new ArrayList<>(4);
		}
		this.following.add(action);
	}

	/** Adds an action that follows the event before all others. Called under the lock. */
	void followFirst(Runnable action) {
		follow(action);
		Collections.rotate(Objects.requireNonNull(this.following), 1);
	}

	/** One action that fails drops no other. */
	private static void run(Runnable action) {
		try {
			action.run();
		}
		catch (RuntimeException | Error ex) {
			logger.error("An action after an event of a lock failed; the other actions run", ex);
		}
	}

}
