package io.distributedlock.sample.worker;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.context.annotation.Profile;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;
import org.springframework.stereotype.Component;

import io.distributedlock.sample.SampleApplication;
import io.distributedlock.sample.SampleProperties;
import io.distributedlock.sample.SellCommand;
import io.distributedlock.sample.WorkerReport.Done;

/**
 * The threads that sell, all at once, until no seat is free.
 */
@Component
@Profile(SampleApplication.WORKER)
class Sellers {

	private static final Log logger = LogFactory.getLog(Sellers.class);

	private final SaleAttempt attempt;

	private final ReportChannel reports;

	private final int count;

	private final ExecutorService executor;

	Sellers(SaleAttempt attempt, ReportChannel reports, SampleProperties properties) {
		this.attempt = attempt;
		this.reports = reports;
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
			this.reports.send(new Done(command.eventId()));
		}, this.executor);
	}

	@SuppressWarnings("ThreadPriorityCheck") // lets another seller come first
	private void sellUntilSoldOut(SellCommand command) {
		int lostInARow = 0;
		SaleAttempt.Outcome outcome = this.attempt.make(command);
		while (outcome != SaleAttempt.Outcome.SOLD_OUT) {
			lostInARow = switch (outcome) {
				case NOT_SOLD -> lostInARow + 1;
				case NOT_ACQUIRED -> lostInARow;
				default -> 0;
			};
			if (this.attempt.isHopeless(command, lostInARow)) {
				return;
			}
			Thread.yield();
			outcome = this.attempt.make(command);
		}
	}

}
