package io.distributedlock.engine.concurrent;

import java.util.concurrent.locks.LockSupport;

import io.distributedlock.provider.StoreCall;

/**
 * The wait of a caller for a call to the store, by a timed park of its own thread.
 */
public final class CallWait {

	private CallWait() {
	}

	/**
	 * Waits until a call is done, and abandons it at the end. An interrupt does not end
	 * the wait; the thread is interrupted again after it.
	 * @param call the call, for whose end nothing else waits
	 * @param untilNanos the end of the wait by the nano time
	 * @return whether the call is done
	 */
	public static boolean await(StoreCall<?> call, EngineEnvironment environment, long untilNanos) {
		if (call.isDone()) {
			return true;
		}
		Thread thread = Thread.currentThread();
		call.onDone(() -> LockSupport.unpark(thread));
		boolean interrupted = false;
		while (!call.isDone()) {
			long left = untilNanos - environment.nanoTime();
			if (left <= 0) {
				call.abandon();
				break;
			}
			LockSupport.parkNanos(call, left);
			interrupted |= Thread.interrupted();
		}
		if (interrupted) {
			thread.interrupt();
		}
		return call.isDone();
	}

}
