package io.distributedlock.sample.worker;

import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Service;

import io.distributedlock.LockContext;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockOperations;
import io.distributedlock.LockRequest;
import io.distributedlock.sample.SaleSettings;
import io.distributedlock.sample.SampleApplication;
import io.distributedlock.sample.SellCommand;
import io.distributedlock.sample.WorkerReport.Incident;
import io.distributedlock.sample.WorkerReport.Kind;

/**
 * Sales under a lock whose lease and renewal the page chooses. An annotation has them
 * fixed, so this acquires the lock by hand, and the annotated method joins it: same name,
 * same key, same fencing token, no second request to the store.
 */
@Service
@Profile(SampleApplication.WORKER)
class LockedSales {

	private final LockOperations locks;

	private final SeatSales sales;

	private final ReportChannel reports;

	LockedSales(LockOperations locks, SeatSales sales, ReportChannel reports) {
		this.locks = locks;
		this.sales = sales;
		this.reports = reports;
	}

	int sell(SellCommand command) {
		SaleSettings settings = command.settings();
		LockRequest renewed = LockRequest.of(LockKey.of("seats", Integer.toString(command.eventId())))
			.withLease(settings.lease());
		LockRequest request = settings.renew() ? renewed : renewed.withoutRenewal();
		if (settings.fence()) {
			return this.locks.execute(request, (lease) -> this.sales.sell(command.eventId(), settings.thinkTime()));
		}
		return sellUnfenced(command, request);
	}

	/** A handle, unlike {@code execute}, does not fail where its lock was lost. */
	private int sellUnfenced(SellCommand command, LockRequest request) {
		try (LockLease lease = this.locks.acquire(request); LockContext.Scope scope = LockContext.open(lease)) {
			scope.ignoreLoss();
			int seat = this.sales.sellUnfenced(command.eventId(), command.settings().thinkTime());
			if (seat != SeatSales.SOLD_OUT && !lease.isHeld()) {
				this.reports.send(new Incident(Kind.UNFENCED, seat, lease.fencingToken().toString()));
			}
			return seat;
		}
	}

}
