package io.distributedlock.sample.control;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

import io.distributedlock.sample.SampleApplication;
import io.distributedlock.sample.control.ReportListener.Takeover;
import io.distributedlock.sample.control.SalesRuns.SaleView;

/**
 * All that the page shows.
 */
@Component
@Profile("!" + SampleApplication.WORKER)
class ControlRoom {

	private final Store store;

	private final SaleDefaults defaults;

	private final SalesRuns runs;

	private final TourController tour;

	private final WorkerPool workers;

	private final ReportListener reportListener;

	private final EventLog log;

	ControlRoom(Store store, SaleDefaults defaults, SalesRuns runs, TourController tour, WorkerPool workers,
			ReportListener reportListener, EventLog log) {
		this.store = store;
		this.defaults = defaults;
		this.runs = runs;
		this.tour = tour;
		this.workers = workers;
		this.reportListener = reportListener;
		this.log = log;
	}

	State state() {
		return new State(ProcessHandle.current().pid(), this.store.name(), this.store.hasFixedLease(),
				this.defaults.lease().toMillis(), WorkerProcess.canFreeze(), this.runs.view(), this.tour.progress(),
				this.workers.lanes(), this.reportListener.takeover(), this.log.latest());
	}

	/**
	 * State of the sample at one moment.
	 *
	 * @param pid the process id of the control process
	 * @param store the store of the locks, in words
	 * @param fixedLease whether a sale cannot have a lease of its own
	 * @param leaseMillis the configured lease
	 * @param canFreeze whether workers can be frozen on this system
	 * @param sale the sale that is running, or the last one
	 * @param tour the step of the tour that is played, or was played last
	 * @param lanes the workers
	 * @param takeover who took over from the last holder that was killed or frozen
	 * @param log what has happened lately
	 */
	record State(long pid, String store, boolean fixedLease, long leaseMillis, boolean canFreeze,
			@Nullable SaleView sale, TourController.@Nullable Progress tour, List<LaneView> lanes,
			@Nullable Takeover takeover, List<EventLog.Entry> log) {

	}

}
