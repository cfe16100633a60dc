package io.distributedlock.sample.control;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Service;

import io.distributedlock.sample.SampleApplication;
import io.distributedlock.sample.SampleProperties;
import io.distributedlock.sample.SellCommand;

/**
 * Sales of new events, one after the other, and the latest result of each kind.
 */
@Service
@Profile("!" + SampleApplication.WORKER)
class SalesRuns {

	private static final Log logger = LogFactory.getLog(SalesRuns.class);

	private final WorkerPool workers;

	private final SalesLedger ledger;

	private final int capacity;

	private final ReentrantLock oneAtATime = new ReentrantLock();

	private final Map<String, SalesResult> latest = new ConcurrentHashMap<>();

	SalesRuns(WorkerPool workers, SalesLedger ledger, SampleProperties properties) {
		this.workers = workers;
		this.ledger = ledger;
		this.capacity = properties.capacity();
	}

	SalesResult run(boolean locked, Duration thinkTime) {
		this.oneAtATime.lock();
		try {
			int eventId = this.ledger.openEvent(this.capacity);
			Duration atMost = thinkTime.multipliedBy(this.capacity);
			this.workers.sell(new SellCommand(eventId, locked, thinkTime), atMost);
			SalesResult result = this.ledger.result(eventId);
			String mode = locked ? "on" : "off";
			this.latest.put(mode, result);
			logger.info("lock=" + mode + ": " + result);
			return result;
		}
		finally {
			this.oneAtATime.unlock();
		}
	}

	/** Returns the latest result without the lock ("off") and with it ("on"). */
	Map<String, SalesResult> latest() {
		return new TreeMap<>(this.latest);
	}

}
