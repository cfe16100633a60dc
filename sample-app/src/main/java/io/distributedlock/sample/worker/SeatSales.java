package io.distributedlock.sample.worker;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

import io.distributedlock.LockContext;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.sample.SampleApplication;
import io.distributedlock.sample.worker.SeatLedger.Seats;

/**
 * Sale of the next free seat of an event, with the lock and without it.
 */
@Service
@Profile(SampleApplication.WORKER)
class SeatSales {

	private static final long NO_TOKEN = 0;

	private final SeatLedger ledger;

	SeatSales(SeatLedger ledger) {
		this.ledger = ledger;
	}

	/**
	 * Sells a seat.
	 * @param event the event
	 * @param thinkTime how long the customer thinks
	 * @return {@code false} if there was none left
	 */
	@DistributedLock(name = "seats", key = "#event")
	@Transactional
	public boolean sell(int event, Duration thinkTime) {
		return sellNextSeat(event, thinkTime, LockContext.current().fencingToken().value());
	}

	/**
	 * Sells a seat without the lock. The transaction alone does not help: all processes
	 * may read the same number of sold seats before one of them writes.
	 * @param event the event
	 * @param thinkTime how long the customer thinks
	 * @return {@code false} if there was none left
	 */
	@Transactional
	public boolean sellUnlocked(int event, Duration thinkTime) {
		return sellNextSeat(event, thinkTime, NO_TOKEN);
	}

	private boolean sellNextSeat(int event, Duration thinkTime, long token) {
		Seats seats = this.ledger.seats(event);
		if (seats.soldOut()) {
			return false;
		}
		LockSupport.parkNanos(thinkTime.toNanos());
		this.ledger.sell(event, seats.next(), token);
		return true;
	}

}
