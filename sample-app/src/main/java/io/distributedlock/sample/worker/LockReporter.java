package io.distributedlock.sample.worker;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

import io.distributedlock.LockLostEvent;
import io.distributedlock.LockSnapshot;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.sample.SampleApplication;
import io.distributedlock.sample.WorkerReport;
import io.distributedlock.sample.WorkerReport.Held;
import io.distributedlock.sample.WorkerReport.Incident;
import io.distributedlock.sample.WorkerReport.Kind;
import io.distributedlock.sample.WorkerReport.Locks;

/**
 * Reporter of what this process holds and waits for: several times a second, and at once
 * when a lock is lost.
 */
@Configuration(proxyBeanMethods = false)
@EnableScheduling
@Profile(SampleApplication.WORKER)
class LockReporter {

	private static final Locks NONE = new Locks(null, 0, 0);

	private final LockTemplate locks;

	private final ReportChannel reports;

	private WorkerReport last = NONE;

	LockReporter(LockTemplate locks, ReportChannel reports) {
		this.locks = locks;
		this.reports = reports;
	}

	@Scheduled(fixedRate = 100)
	void report() {
		LockSnapshot snapshot = this.locks.snapshot();
		List<LockSnapshot.Waiting> waiting = snapshot.waiting();
		Duration longest = waiting.stream()
			.map(LockSnapshot.Waiting::waitedFor)
			.max(Duration::compareTo)
			.orElse(Duration.ZERO);
		Locks now = new Locks(held(snapshot), waiting.size(), longest.toMillis());
		if (!now.equals(this.last)) {
			this.reports.send(now);
			this.last = now;
		}
	}

	private static @Nullable Held held(LockSnapshot snapshot) {
		return snapshot.held()
			.stream()
			.findFirst()
			.map((lock) -> new Held(lock.token().toString(), lock.lease().toMillis(), lock.remaining().toMillis()))
			.orElse(null);
	}

	@EventListener
	void reportLoss(LockLostEvent event) {
		this.reports.send(new Incident(Kind.LOST, 0, event.lease().fencingToken().toString()));
	}

}
