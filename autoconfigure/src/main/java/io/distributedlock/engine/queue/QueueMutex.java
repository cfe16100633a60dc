package io.distributedlock.engine.queue;

import java.util.ArrayList;
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

	/** What follows the event, in order: one action and others, guarded by the lock. */
	private @Nullable Runnable first;

	private @Nullable List<Runnable> others;

	void lock() {
		this.lock.lock();
	}

	/** Releases the lock, and runs what follows. */
	void unlock() {
		Runnable action = this.first;
		List<Runnable> more = this.others;
		this.first = null;
		this.others = null;
		this.lock.unlock();
		if (action != null) {
			run(action);
		}
		if (more != null) {
			more.forEach(QueueMutex::run);
		}
	}

	/** Adds an action that follows the event. Called under the lock. */
	void follow(Runnable action) {
		if (this.first == null) {
			this.first = action;
			return;
		}
		if (this.others == null) {
			this.others = new ArrayList<>(4);
		}
		this.others.add(action);
	}

	/** Adds an action that follows the event before all others. Called under the lock. */
	void followFirst(Runnable action) {
		follow(action);
		if (this.others != null) {
			this.others.add(0, Objects.requireNonNull(this.first));
			this.first = this.others.remove(this.others.size() - 1);
		}
	}

	/** One action that fails drops no other. */
	static void run(Runnable action) {
		try {
			action.run();
		}
		catch (RuntimeException | Error ex) {
			logger.error("An action after an event of a lock failed; the other actions run", ex);
		}
	}

}
