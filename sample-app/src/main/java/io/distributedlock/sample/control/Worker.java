package io.distributedlock.sample.control;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

import io.distributedlock.sample.WorkerReport;
import io.distributedlock.sample.WorkerReport.Done;
import io.distributedlock.sample.WorkerReport.Held;
import io.distributedlock.sample.WorkerReport.Incident;
import io.distributedlock.sample.WorkerReport.Kind;
import io.distributedlock.sample.WorkerReport.Locks;
import io.distributedlock.sample.WorkerReport.Ready;

/**
 * A worker as the control process knows it: its process, and what it has reported. One
 * thread writes, the one that reads the reports.
 */
class Worker {

	/** How long the page says that a worker was stale. */
	private static final long STALE_NANOS = Duration.ofSeconds(5).toNanos();

	private static final int FIRST_LINES = 5;

	private static final Locks NOTHING = new Locks(null, 0, 0);

	private final int lane;

	private final WorkerProcess process;

	private final List<String> firstLines = new ArrayList<>();

	private volatile int port;

	private volatile Locks locks = NOTHING;

	private volatile long locksAt = System.nanoTime();

	private volatile long heldSince;

	private volatile int commanded;

	private volatile int done;

	private volatile @Nullable Long staleSince;

	Worker(int lane, WorkerProcess process) {
		this.lane = lane;
		this.process = process;
	}

	int lane() {
		return this.lane;
	}

	WorkerProcess process() {
		return this.process;
	}

	long pid() {
		return this.process.pid();
	}

	boolean isAlive() {
		return this.process.isAlive();
	}

	boolean isReady() {
		return this.port != 0;
	}

	/** Returns the port of its web server, 0 before it is ready. */
	int port() {
		return this.port;
	}

	/**
	 * Returns the address of its actuator.
	 * @return the address, or {@code null} before it is ready
	 */
	@Nullable String actuator() {
		return isReady() ? "http://127.0.0.1:" + this.port + "/actuator" : null;
	}

	/** Remembers output that is no report, from before the worker was ready. */
	boolean keepFirstLine(String line) {
		if (isReady() || line.isBlank()) {
			return false;
		}
		synchronized (this.firstLines) {
			this.firstLines.add(line.strip());
		}
		return true;
	}

	/** Returns the beginning of that output, where a failed start says why. */
	List<String> firstLines() {
		synchronized (this.firstLines) {
			return List.copyOf(this.firstLines.subList(0, Math.min(FIRST_LINES, this.firstLines.size())));
		}
	}

	void receive(WorkerReport report) {
		if (report instanceof Ready ready) {
			this.port = ready.port();
		}
		else if (report instanceof Done finished) {
			this.done = finished.eventId();
		}
		else if (report instanceof Locks now) {
			if (now.held() != null && !isSameHold(this.locks.held(), now.held())) {
				this.heldSince = System.nanoTime();
				this.staleSince = null;
			}
			this.locks = now;
			this.locksAt = System.nanoTime();
		}
		else if (report instanceof Incident incident
				&& (incident.kind() == Kind.REFUSED || incident.kind() == Kind.UNFENCED)) {
			this.staleSince = System.nanoTime();
		}
	}

	static boolean isSameHold(@Nullable Held one, @Nullable Held other) {
		return one != null && other != null && one.token().equals(other.token());
	}

	void command(int eventId, String line) {
		this.commanded = eventId;
		this.process.send(line);
	}

	/** Whether it is alive and has not finished its last command. */
	boolean isBusy() {
		return isAlive() && this.commanded != this.done;
	}

	/**
	 * Returns the lock that it holds, or held when it fell silent.
	 * @return the lock, or {@code null}
	 */
	@Nullable Held held() {
		return this.locks.held();
	}

	/** Returns how long it has had that lock. */
	Duration heldFor() {
		return Duration.ofNanos(System.nanoTime() - this.heldSince);
	}

	/** Returns how much of the lease is left, as far as this process can know. */
	long remainingMillis() {
		Held held = this.locks.held();
		long silentMillis = Duration.ofNanos(System.nanoTime() - this.locksAt).toMillis();
		return (held != null) ? Math.max(0, held.remainingMillis() - silentMillis) : 0;
	}

	LaneView view(long highestToken) {
		Locks now = this.locks;
		Held held = (isAlive() || remainingMillis() > 0) ? now.held() : null;
		boolean succeeded = held != null && Long.parseLong(held.token()) < highestToken;
		return new LaneView(this.lane, pid(), state().name().toLowerCase(Locale.ROOT),
				(held != null) ? held.token() : null, (held != null) ? held.leaseMillis() : 0,
				(held != null) ? remainingMillis() : 0, succeeded, isAlive() ? now.waiting() : 0, now.waitedMillis(),
				isAlive() ? actuator() : null);
	}

	private State state() {
		if (!isAlive()) {
			return State.DEAD;
		}
		if (!isReady()) {
			return State.STARTING;
		}
		if (this.process.isFrozen()) {
			return State.FROZEN;
		}
		Long stale = this.staleSince;
		if (stale != null && System.nanoTime() - stale < STALE_NANOS) {
			return State.STALE;
		}
		if (this.locks.held() != null) {
			return State.HOLDING;
		}
		if (this.locks.waiting() > 0) {
			return State.WAITING;
		}
		return isBusy() ? State.SELLING : State.IDLE;
	}

	private enum State {

		STARTING, IDLE, SELLING, WAITING, HOLDING, FROZEN, STALE, DEAD

	}

}
