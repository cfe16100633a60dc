package io.distributedlock.sample.control;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Service;

import io.distributedlock.sample.SaleSettings;
import io.distributedlock.sample.SampleApplication;
import io.distributedlock.sample.SellCommand;
import io.distributedlock.sample.control.EventLog.Tone;

/**
 * Sales of new events, one after the other, and the latest result of each kind.
 */
@Service
@Profile("!" + SampleApplication.WORKER)
class SalesRuns {

	private static final Log logger = LogFactory.getLog(SalesRuns.class);

	private final WorkerPool workers;

	private final SalesLedger ledger;

	private final EventLog log;

	private final ReportListener reportListener;

	private final ReentrantLock oneAtATime = new ReentrantLock();

	private final Map<String, SalesResult> latest = new ConcurrentHashMap<>();

	private volatile @Nullable SaleView last;

	SalesRuns(WorkerPool workers, SalesLedger ledger, EventLog log, ReportListener reportListener) {
		this.workers = workers;
		this.ledger = ledger;
		this.log = log;
		this.reportListener = reportListener;
	}

	SalesResult run(SaleSettings settings) {
		return run(settings, () -> {
		});
	}

	/**
	 * Sells a new event, after the sale that is running.
	 * @param settings the settings of the sale
	 * @param disturbance what is done to the workers while they sell
	 * @return the result
	 */
	SalesResult run(SaleSettings settings, Runnable disturbance) {
		this.oneAtATime.lock();
		try {
			int eventId = this.ledger.openEvent(settings.seats());
			SellCommand command = new SellCommand(eventId, settings);
			this.last = view(command, true);
			this.log.add(Tone.PLAIN, "A sale of " + settings.seats() + " seats begins, "
					+ (settings.lock() ? "with the lock" : "without the lock"));
			this.reportListener.onSale();
			this.workers.sell(command, disturbance, settings.thinkTime().multipliedBy(settings.seats()));
			SalesResult result = this.ledger.result(eventId);
			this.last = view(command, false);
			announce(settings, result);
			return result;
		}
		catch (RuntimeException ex) {
			this.last = null;
			this.log.add(Tone.BAD, "The sale has failed; the console says why");
			throw ex;
		}
		finally {
			this.oneAtATime.unlock();
		}
	}

	private void announce(SaleSettings settings, SalesResult result) {
		String mode = settings.lock() ? "on" : "off";
		this.latest.put(mode, result);
		this.log.add(
				(result.oversold() > 0) ? Tone.BAD : (result.sold() < result.capacity()) ? Tone.WARNING : Tone.GOOD,
				"The sale ends: " + result.inWords());
		logger.info("lock=" + mode + ": " + result);
	}

	/** Returns the latest result without the lock ("off") and with it ("on"). */
	Map<String, SalesResult> latest() {
		return new TreeMap<>(this.latest);
	}

	/**
	 * Returns the sale that is running, or the last one.
	 * @return the sale, or {@code null} before the first
	 */
	@Nullable SaleView view() {
		SaleView sale = this.last;
		return (sale != null && sale.running()) ? view(new SellCommand(sale.event(), sale.settings()), true) : sale;
	}

	private SaleView view(SellCommand command, boolean running) {
		int event = command.eventId();
		return new SaleView(event, running, command.settings(), this.ledger.result(event), this.ledger.tickets(event));
	}

	/** Returns whether a sale is running now. */
	boolean isRunning() {
		return this.oneAtATime.isLocked();
	}

	/**
	 * A sale as the page shows it.
	 *
	 * @param event the event
	 * @param running whether it has not ended
	 * @param settings its settings
	 * @param result what was sold so far
	 * @param tickets the seats of all tickets
	 */
	record SaleView(int event, boolean running, SaleSettings settings, SalesResult result, List<Integer> tickets) {

	}

}
