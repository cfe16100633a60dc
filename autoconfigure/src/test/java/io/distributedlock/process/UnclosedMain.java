package io.distributedlock.process;

import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

import io.distributedlock.LockLease;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.jdbc.TestDatabases;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.testkit.TimeBounds;

/** Holds a lock past its first lease and returns without closing anything. */
final class UnclosedMain {

	/** A lease that a JVM which has just started can renew on a loaded machine. */
	private static final Duration LEASE = TimeBounds.withLoad(Duration.ofSeconds(3));

	private UnclosedMain() {
	}

	public static void main(String[] args) {
		PrintStream answers = System.out;
		LockTimer timer = new LockTimer();
		LockProvider provider = Endpoint.parse(List.of(args)).provider(timer);
		TestDatabases.warmUp(provider);
		LockSettings settings = LockSettings.defaults().withCallTimeout(Duration.ofSeconds(3));
		LockTemplate locks = new LockTemplate(provider, settings, timer, List.of(), List.of());
		LockLease lease = locks.acquire(LocalLocks.request("seat", LEASE));
		long end = System.nanoTime() + LEASE.plusMillis(300).toNanos();
		while (System.nanoTime() - end < 0) {
			LockSupport.parkNanos(end - System.nanoTime());
		}
		answers.println(LockProcess.ANSWER + lease.isHeld());
	}

}
