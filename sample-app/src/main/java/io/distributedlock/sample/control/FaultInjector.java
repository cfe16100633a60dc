package io.distributedlock.sample.control;

import java.time.Duration;

import org.springframework.context.annotation.Profile;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.stereotype.Component;

import io.distributedlock.sample.SampleApplication;
import io.distributedlock.sample.control.EventLog.Tone;

/**
 * Injector of what can happen to a process that holds a lock.
 */
@Component
@Profile("!" + SampleApplication.WORKER)
class FaultInjector {

	private final EventLog log;

	private final ReportListener reportListener;

	private final TaskScheduler scheduler;

	FaultInjector(EventLog log, ReportListener reportListener, TaskScheduler scheduler) {
		this.log = log;
		this.reportListener = reportListener;
		this.scheduler = scheduler;
	}

	/** Ends a worker with SIGKILL. */
	void kill(Worker worker) {
		worker.process().kill();
		this.reportListener.onFault(worker, "kill -9 of worker " + worker.lane() + ", process " + worker.pid());
	}

	/**
	 * Stops a worker with SIGSTOP, and continues it some time later.
	 * @return {@code false} if it is frozen already
	 */
	boolean freeze(Worker worker, Duration time) {
		if (!worker.process().freeze()) {
			return false;
		}
		this.reportListener.onFault(worker, "Worker " + worker.lane() + " is frozen for " + time.toSeconds() + " s");
		this.scheduler.schedule(() -> thaw(worker), this.scheduler.getClock().instant().plus(time));
		return true;
	}

	private void thaw(Worker worker) {
		if (worker.process().thaw()) {
			this.log.add(Tone.PLAIN, "Worker " + worker.lane() + " goes on, and does not know that time has passed");
		}
	}

}
