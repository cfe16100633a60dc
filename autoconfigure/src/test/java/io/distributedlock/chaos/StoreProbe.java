package io.distributedlock.chaos;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

import io.distributedlock.chaos.HistoryEvent.Kind;

/**
 * A thread that asks the server twice a second without a proxy, and logs when it did not
 * answer soon. Such a store is not well, be it for a fault or since it got no processor.
 * Nor is one whose proxies got none, which are in the process of this thread.
 */
final class StoreProbe extends Thread {

	private static final Duration PAUSE = Duration.ofMillis(500);

	private static final long LATE = Duration.ofMillis(250).toNanos();

	private final ChaosStore store;

	private final HistoryLog log;

	StoreProbe(ChaosStore store, HistoryLog log) {
		super("store-probe");
		this.store = store;
		this.log = log;
		setDaemon(true);
	}

	@Override
	public void run() {
		while (!isInterrupted()) {
			long asked = System.nanoTime();
			boolean answered = answers();
			long now = System.nanoTime();
			if (!answered || now - asked > LATE) {
				logStall(now, now - asked);
			}
			LockSupport.parkNanos(PAUSE.toNanos());
			long woken = System.nanoTime();
			if (woken - now - PAUSE.toNanos() > LATE) {
				logStall(woken, woken - now - PAUSE.toNanos());
			}
		}
	}

	private void logStall(long end, long nanos) {
		this.log.add(new HistoryEvent(end, Kind.STALL, HistoryEvent.STORE, "", "", nanos, ""));
	}

	/** Ends it, and waits for that: the store is closed next. */
	void end() {
		interrupt();
		try {
			join();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private boolean answers() {
		try {
			this.store.probe();
			return true;
		}
		catch (RuntimeException | AssertionError ex) {
			// It is just down, or has ended this connection.
			return false;
		}
	}

}
