package io.distributedlock.process;

import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.distributedlock.LockLease;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.support.LockSettings;
import io.distributedlock.support.LockTemplate;

/** Holds a lock past its first lease and returns without closing anything. */
final class UnclosedMain {

	private UnclosedMain() {
	}

	public static void main(String[] args) {
		PrintStream answers = System.out;
		LockTimer timer = new LockTimer();
		LockTemplate locks = new LockTemplate(Endpoint.parse(List.of(args)).provider(timer), LockSettings.defaults(),
				timer, List.of(), List.of());
		LockLease lease = locks.acquire(LocalLocks.request("seat", Duration.ofSeconds(1)));
		LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1_300));
		answers.println(LockProcess.ANSWER + lease.isHeld());
	}

}
