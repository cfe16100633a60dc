package io.distributedlock.sample.worker;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

import io.distributedlock.FencingToken;
import io.distributedlock.LockContext;
import io.distributedlock.OnLost;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.sample.SampleApplication;
import io.distributedlock.sample.worker.SeatLedger.Seats;

/**
 * Sale of the next free seat of an event: read how many are sold, let the customer think,
 * sell the next one. Each method returns the sold seat, or {@link #SOLD_OUT}.
 */
@Service
@Profile(SampleApplication.WORKER)
class SeatSales {

	static final int SOLD_OUT = 0;

	private final SeatLedger ledger;

	SeatSales(SeatLedger ledger) {
		this.ledger = ledger;
	}

	/** Sells a seat under the lock, and writes it with the fencing token of the lock. */
	@DistributedLock(name = "seats", key = "#event")
	@Transactional
	public int sell(int event, Duration thinkTime) {
		FencingToken token = LockContext.current().fencingToken();
		return sellNextSeat(event, thinkTime, (seat) -> this.ledger.sellFenced(event, seat, token));
	}

	/**
	 * Sells a seat under the lock, to a database that knows nothing of tokens.
	 * {@code IGNORE} switches off the check that rolls back the transaction of a lost
	 * lock. That check finds most of such writes, but not one whose process pauses
	 * between the check and the commit.
	 */
	@DistributedLock(name = "seats", key = "#event", onLost = OnLost.IGNORE)
	@Transactional
	public int sellUnfenced(int event, Duration thinkTime) {
		FencingToken token = LockContext.current().fencingToken();
		return sellNextSeat(event, thinkTime, (seat) -> this.ledger.sell(event, seat, token.value()));
	}

	/**
	 * Sells a seat without the lock. The transaction alone does not help: all processes
	 * may read the same number of sold seats before one of them writes.
	 */
	@Transactional
	public int sellUnlocked(int event, Duration thinkTime) {
		return sellNextSeat(event, thinkTime, (seat) -> this.ledger.sell(event, seat, SeatLedger.NO_TOKEN));
	}

	private int sellNextSeat(int event, Duration thinkTime, Purchase purchase) {
		Seats seats = this.ledger.seats(event);
		if (seats.soldOut()) {
			return SOLD_OUT;
		}
		LockSupport.parkNanos(thinkTime.toNanos());
		purchase.buy(seats.next());
		return seats.next();
	}

	/** The write of a sold seat. */
	private interface Purchase {

		void buy(int seat);

	}

}
