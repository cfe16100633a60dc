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
 * The threads that sell, all at once and until nothing is left.
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
		// The worker ends when its control process does, whatever the sellers wait for.
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
				logger.error("A seller gave up: " + command, failure);
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
	 * Sells one seat. Who was paused for too long has not sold and goes on: with the next
	 * seat, under a lock of its own.
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
			logger.warn("A sale of event " + command.eventId() + " was taken back: " + ex.getMessage());
			return true;
		}
	}

}
