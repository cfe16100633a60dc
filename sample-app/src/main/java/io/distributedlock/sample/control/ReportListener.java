package io.distributedlock.sample.control;

import java.time.Duration;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

import io.distributedlock.sample.SampleApplication;
import io.distributedlock.sample.WorkerReport;
import io.distributedlock.sample.WorkerReport.Held;
import io.distributedlock.sample.WorkerReport.Incident;
import io.distributedlock.sample.WorkerReport.Locks;
import io.distributedlock.sample.control.EventLog.Tone;

/**
 * Listener to the reports of workers, which writes to the log what a visitor should see:
 * renewals, refused writes, and who takes over from a holder that was killed or frozen.
 */
@Component
@Profile("!" + SampleApplication.WORKER)
class ReportListener {

	/** A lease that is this much longer than before was renewed. */
	private static final long RENEWAL_MILLIS = 300;

	private final EventLog log;

	private volatile @Nullable Fault fault;

	private volatile @Nullable Takeover takeover;

	ReportListener(EventLog log) {
		this.log = log;
	}

	/** Forgets the faults of former sales. */
	synchronized void onSale() {
		this.fault = null;
		this.takeover = null;
	}

	/** Receives a report, before the worker has it. */
	synchronized void onReport(Worker worker, WorkerReport report) {
		if (report instanceof Incident incident) {
			logIncident(worker, incident);
		}
		else if (report instanceof Locks locks) {
			Held now = locks.held();
			boolean renewed = now != null && isRenewal(worker, now);
			forgetHarmlessFault(worker, now, renewed);
			if (renewed) {
				this.log.add(Tone.PLAIN, "Worker " + worker.lane() + " renewed its lease");
			}
			if (now != null) {
				logTakeover(worker, now);
			}
		}
	}

	/** A holder that goes on within its lease, or had released before, loses nothing. */
	private void forgetHarmlessFault(Worker worker, @Nullable Held now, boolean renewed) {
		Fault before = this.fault;
		if (before != null && before.worker() == worker
				&& (renewed || (worker.remainingMillis() > 0 && !Worker.isSameHold(worker.held(), now)))) {
			this.fault = null;
		}
	}

	private void logIncident(Worker worker, Incident incident) {
		String name = "Worker " + worker.lane();
		switch (incident.kind()) {
			case SOLD -> this.log.add(Tone.PLAIN, name + " sold seat " + incident.seat());
			case LOST -> this.log.add(Tone.WARNING, name + " lost its lock while it worked: its lease was over");
			case REFUSED -> this.log.announce(Tone.GOOD, name + " is stale: the database refused its write of seat "
					+ incident.seat() + " with the old token " + incident.token());
			case ROLLED_BACK -> this.log.add(Tone.WARNING, name + " rolled a sale back: its lock was lost");
			case CONFLICT ->
				this.log.add(Tone.WARNING, name + " rolled a sale back: another transaction was in its way");
			case UNFENCED -> this.log.add(Tone.BAD, name + " is stale, and nothing refused its write of seat "
					+ incident.seat() + " with the old token " + incident.token());
			case GAVE_UP -> this.log.add(Tone.BAD, "A thread of worker " + worker.lane()
					+ " gave up: without renewal, customers think past the lease");
		}
	}

	private static boolean isRenewal(Worker worker, Held now) {
		Held before = worker.held();
		return before != null && Worker.isSameHold(before, now)
				&& now.remainingMillis() > before.remainingMillis() + RENEWAL_MILLIS;
	}

	private void logTakeover(Worker worker, Held now) {
		Fault before = this.fault;
		if (before != null && before.worker() != worker && before.isOver()
				&& Long.parseLong(now.token()) > before.token()) {
			this.fault = null;
			Duration vacancy = Duration.ofNanos(System.nanoTime() - before.nanos());
			this.takeover = new Takeover(before.worker().lane(), Long.toString(before.token()), worker.lane(),
					now.token(), vacancy.toMillis());
			this.log.announce(Tone.GOOD,
					String.format(Locale.ROOT, "Worker %d has the lock, %.1f s later, with the higher token %s",
							worker.lane(), vacancy.toMillis() / 1000.0, now.token()));
		}
	}

	/** Receives a fault after which a worker is silent, perhaps with a lock. */
	synchronized void onFault(Worker worker, String what) {
		this.fault = null;
		this.takeover = null;
		Held held = worker.held();
		if (held == null || worker.remainingMillis() == 0) {
			this.log.add(Tone.WARNING, what);
			return;
		}
		this.fault = new Fault(worker, Long.parseLong(held.token()), System.nanoTime());
		this.log.add(Tone.WARNING, what + ". It held the lock, with token " + held.token());
	}

	/**
	 * Returns the last takeover.
	 * @return the takeover, or {@code null} if there was none since the last fault
	 */
	@Nullable Takeover takeover() {
		return this.takeover;
	}

	private record Fault(Worker worker, long token, long nanos) {

		/** Whether another worker may have the lock because of the fault. */
		boolean isOver() {
			return !this.worker.isAlive() || this.worker.remainingMillis() == 0;
		}

	}

	/**
	 * The lock passed from a worker that was killed or frozen to another one.
	 *
	 * @param fromLane the lane of the former holder
	 * @param fromToken its token
	 * @param toLane the lane of the new holder
	 * @param toToken its token
	 * @param afterMillis how long after the fault
	 */
	record Takeover(int fromLane, String fromToken, int toLane, String toToken, long afterMillis) {

	}

}
