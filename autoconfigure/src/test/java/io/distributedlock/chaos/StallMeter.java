package io.distributedlock.chaos;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

import io.distributedlock.chaos.HistoryEvent.Kind;

/**
 * A thread that tells when its process got no processor: it wakes up each 20 ms, and logs
 * when it is late. Such a time does not count for what has to happen in time.
 */
final class StallMeter extends Thread {

	private static final long PAUSE = Duration.ofMillis(20).toNanos();

	private static final long LATE = Duration.ofMillis(100).toNanos();

	private final String process;

	private final HistoryLog log;

	StallMeter(String process, HistoryLog log) {
		super("stall-meter");
		this.process = process;
		this.log = log;
		setDaemon(true);
	}

	@Override
	public void run() {
		long last = System.nanoTime();
		while (!isInterrupted()) {
			LockSupport.parkNanos(PAUSE);
			long now = System.nanoTime();
			if (now - last - PAUSE > LATE) {
				this.log.add(new HistoryEvent(now, Kind.STALL, this.process, "", "", now - last - PAUSE, ""));
			}
			last = now;
		}
	}

}
