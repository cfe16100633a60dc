package io.distributedlock.sample.control;

import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

import org.springframework.context.annotation.Profile;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

import io.distributedlock.sample.SaleSettings;
import io.distributedlock.sample.SampleApplication;
import io.distributedlock.sample.control.ReportListener.Takeover;

/**
 * Endpoint of the guided tour: four sales that show what a lock does, what it cannot do,
 * and why the token matters.
 */
@RestController
@Profile("!" + SampleApplication.WORKER)
class TourController {

	private static final int STEPS = 4;

	private static final String MISSED = "The worker released the lock just before. Play this step again.";

	private static final String NOT_OVERSOLD = " No two processes met at a seat. Play this step again.";

	private static final Duration QUICK = Duration.ofMillis(60);

	/** Longer than a person needs to see what happens. */
	private static final Duration SLOW = Duration.ofMillis(1200);

	private static final int FEW_SEATS = 8;

	private static final int SOLD_BEFORE_FAULT = 1;

	private static final Duration FREEZE = Duration.ofSeconds(8);

	private final SalesRuns runs;

	private final SaleDefaults defaults;

	private final WorkerPool workers;

	private final FaultInjector faults;

	private final ReportListener reportListener;

	private final AtomicBoolean playing = new AtomicBoolean();

	private volatile @Nullable Progress progress;

	TourController(SalesRuns runs, SaleDefaults defaults, WorkerPool workers, FaultInjector faults,
			ReportListener reportListener) {
		this.runs = runs;
		this.defaults = defaults;
		this.workers = workers;
		this.faults = faults;
		this.reportListener = reportListener;
	}

	/**
	 * Plays one step, from 1 to 4, and answers when its sale has ended.
	 */
	@PostMapping("/api/tour/{step}")
	Progress play(@PathVariable int step) {
		if (step < 1 || step > STEPS) {
			throw new ResponseStatusException(HttpStatus.NOT_FOUND, "The tour has the steps 1 to " + STEPS);
		}
		if (this.runs.isRunning() || !this.playing.compareAndSet(false, true)) {
			throw new ResponseStatusException(HttpStatus.CONFLICT, "Wait until the present sale has ended");
		}
		this.progress = new Progress(step, true, "");
		String verdict = "This step has failed; the console says why.";
		try {
			verdict = switch (step) {
				case 1 -> oversell();
				case 2 -> lock();
				case 3 -> killHolder();
				default -> freezeHolder();
			};
			return new Progress(step, false, verdict);
		}
		finally {
			this.progress = new Progress(step, false, verdict);
			this.playing.set(false);
		}
	}

	private String oversell() {
		SalesResult result = this.runs.run(this.defaults.settings(false, QUICK, this.defaults.seats()));
		return result.inTickets() + ((result.oversold() > 0) ? "" : NOT_OVERSOLD);
	}

	private String lock() {
		return this.runs.run(this.defaults.settings(true, QUICK, this.defaults.seats())).inTickets();
	}

	private String killHolder() {
		SalesResult result = this.runs.run(slowSale(), () -> awaitVictim().ifPresent(this.faults::kill));
		Takeover takeover = this.reportListener.takeover();
		if (takeover == null) {
			return MISSED;
		}
		return String.format(Locale.ROOT, "Worker %d took over after %.1f s, with a higher token. %s",
				takeover.toLane(), takeover.afterMillis() / 1000.0, result.inTickets());
	}

	private String freezeHolder() {
		SalesResult result = this.runs.run(slowSale(),
				() -> awaitVictim().ifPresent((victim) -> this.faults.freeze(victim, FREEZE)));
		if (result.refused() == 0) {
			return MISSED;
		}
		return ((result.refused() == 1) ? "A late write was" : result.refused() + " late writes were") + " refused. "
				+ result.inTickets();
	}

	private SaleSettings slowSale() {
		return this.defaults.settings(true, SLOW, FEW_SEATS);
	}

	/** Waits until the sale is well under way, and for a worker that will still hold. */
	private Optional<Worker> awaitVictim() {
		WorkerPool.await(() -> {
			SalesRuns.SaleView sale = this.runs.view();
			return !this.workers.isSelling() || (sale != null && sale.result().sold() >= SOLD_BEFORE_FAULT);
		}, SLOW.multipliedBy(FEW_SEATS));
		return this.workers.awaitNewHolder();
	}

	/**
	 * Returns the step that is played, or was played last.
	 * @return the step, or {@code null} before the first
	 */
	@Nullable Progress progress() {
		return this.progress;
	}

	/**
	 * A step of the tour.
	 *
	 * @param step its number
	 * @param running whether it is played now
	 * @param verdict what was to be seen, empty while it is played
	 */
	record Progress(int step, boolean running, String verdict) {

	}

}
