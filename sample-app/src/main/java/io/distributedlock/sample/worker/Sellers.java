package io.distributedlock.sample.worker;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.context.annotation.Profile;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;
import org.springframework.stereotype.Component;

import io.distributedlock.LockLostException;
import io.distributedlock.sample.SampleApplication;
import io.distributedlock.sample.SampleProperties;
import io.distributedlock.sample.SellCommand;

/**
 * The threads that sell, all at once, until no seat is free.
 */
@Component
@Profile(SampleApplication.WORKER)
class Sellers {

	private static final Log logger = LogFactory.getLog(Sellers.class);

	private final SeatSales sales;

	private final SeatLedger ledger;

	private final int count;

	private final ExecutorService executor;

	Sellers(SeatSales sales, SeatLedger ledger, SampleProperties properties) {
		this.sales = sales;
		this.ledger = ledger;
		this.count = properties.sellers();
		CustomizableThreadFactory threads = new CustomizableThreadFactory("seller-");
		// The worker ends with its control process, also while the sellers wait.
		threads.setDaemon(true);
		this.executor = Executors.newCachedThreadPool(threads);
	}

	void sellOut(SellCommand command) {
		CompletableFuture<?>[] sellers = Stream
			.generate(() -> CompletableFuture.runAsync(() -> sellUntilSoldOut(command), this.executor))
			.limit(this.count)
			.toArray(CompletableFuture<?>[]::new);
		CompletableFuture.allOf(sellers).whenCompleteAsync((done, failure) -> {
			if (failure != null) {
				logger.error("A seller failed: " + command, failure);
			}
			this.ledger.reportDone(command.eventId());
		}, this.executor);
	}

	private void sellUntilSoldOut(SellCommand command) {
		while (sell(command)) {
			Thread.yield();
		}
	}

	/**
	 * Sells one seat. A sale that was refused or rolled back is not repeated: the seller
	 * continues with the next seat.
	 */
	private boolean sell(SellCommand command) {
		try {
			return command.locked() ? this.sales.sell(command.eventId(), command.thinkTime())
					: this.sales.sellUnlocked(command.eventId(), command.thinkTime());
		}
		catch (StaleSaleException ex) {
			logger.warn(ex.getMessage());
			this.ledger.reportRefused(command.eventId(), ex);
			return true;
		}
		catch (LockLostException | ConcurrencyFailureException ex) {
			logger.warn("A sale of event " + command.eventId() + " was rolled back: " + ex.getMessage());
			return true;
		}
	}

}
