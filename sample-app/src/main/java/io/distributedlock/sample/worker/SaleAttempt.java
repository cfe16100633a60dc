package io.distributedlock.sample.worker;

import java.time.Duration;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Profile;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.stereotype.Component;

import io.distributedlock.LockLostException;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.sample.SaleSettings;
import io.distributedlock.sample.SampleApplication;
import io.distributedlock.sample.SellCommand;
import io.distributedlock.sample.WorkerReport.Incident;
import io.distributedlock.sample.WorkerReport.Kind;

/**
 * One attempt to sell a seat. A sale that was refused or rolled back is not repeated: the
 * seller continues with the next seat.
 */
@Component
@Profile(SampleApplication.WORKER)
class SaleAttempt {

	private static final Log logger = LogFactory.getLog(SaleAttempt.class);

	/** Sales of quicker customers are too many to be reported one by one. */
	private static final Duration REPORTED_THINK_TIME = Duration.ofMillis(250);

	private static final int HOPELESS_ATTEMPTS = 3;

	private static final String NO_TOKEN = "0";

	private final SeatSales sales;

	private final LockedSales lockedSales;

	private final SeatLedger ledger;

	private final ReportChannel reports;

	private final Duration defaultLease;

	SaleAttempt(SeatSales sales, LockedSales lockedSales, SeatLedger ledger, ReportChannel reports,
			@Value("${distributed-lock.lease}") Duration defaultLease) {
		this.sales = sales;
		this.lockedSales = lockedSales;
		this.ledger = ledger;
		this.reports = reports;
		this.defaultLease = defaultLease;
	}

	Outcome make(SellCommand command) {
		try {
			int seat = sell(command);
			if (seat == SeatSales.SOLD_OUT) {
				return Outcome.SOLD_OUT;
			}
			if (command.settings().thinkTime().compareTo(REPORTED_THINK_TIME) >= 0) {
				report(Kind.SOLD, seat, NO_TOKEN);
			}
			return Outcome.SOLD;
		}
		catch (StaleSaleException ex) {
			logger.warn(ex.getMessage());
			this.ledger.reportRefused(command.eventId(), ex);
			report(Kind.REFUSED, ex.seat(), ex.token().toString());
			return Outcome.NOT_SOLD;
		}
		catch (LockLostException ex) {
			return rolledBack(command, ex, Kind.ROLLED_BACK);
		}
		catch (ConcurrencyFailureException ex) {
			return rolledBack(command, ex, Kind.CONFLICT);
		}
		catch (LockNotAcquiredException ex) {
			logger.warn(ex.getMessage());
			return Outcome.NOT_ACQUIRED;
		}
	}

	private Outcome rolledBack(SellCommand command, RuntimeException failure, Kind kind) {
		logger.warn("A sale of event " + command.eventId() + " was rolled back: " + failure.getMessage());
		report(kind, 0, NO_TOKEN);
		return Outcome.NOT_SOLD;
	}

	private int sell(SellCommand command) {
		SaleSettings settings = command.settings();
		if (!settings.lock()) {
			return this.sales.sellUnlocked(command.eventId(), settings.thinkTime());
		}
		if (settings.fence() && settings.renew() && settings.lease().equals(this.defaultLease)) {
			return this.sales.sell(command.eventId(), settings.thinkTime());
		}
		return this.lockedSales.sell(command);
	}

	/**
	 * Returns whether a thread should stop selling: without renewal, a customer who
	 * thinks for longer than the lease never gets a seat.
	 * @param notSold how many attempts in a row sold no seat
	 */
	boolean isHopeless(SellCommand command, int notSold) {
		if (command.settings().renew() || notSold < HOPELESS_ATTEMPTS) {
			return false;
		}
		report(Kind.GAVE_UP, 0, NO_TOKEN);
		return true;
	}

	private void report(Kind kind, int seat, String token) {
		this.reports.send(new Incident(kind, seat, token));
	}

	/** End of an attempt. */
	enum Outcome {

		SOLD, NOT_SOLD, NOT_ACQUIRED, SOLD_OUT

	}

}
