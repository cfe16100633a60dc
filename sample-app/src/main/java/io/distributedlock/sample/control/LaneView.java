package io.distributedlock.sample.control;

import org.jspecify.annotations.Nullable;

/**
 * A worker as the page shows it.
 *
 * @param lane the number of its lane, from 1
 * @param pid the process id
 * @param state {@code starting}, {@code idle}, {@code selling} (without a lock),
 * {@code waiting}, {@code holding}, {@code frozen}, {@code stale} (it wrote although it
 * had lost its lock) or {@code dead}
 * @param token the fencing token of the lock that it holds, or held when it fell silent
 * @param leaseMillis the lease of that lock
 * @param remainingMillis what is left of the lease
 * @param succeeded whether another worker has a higher token
 * @param waiting how many of its threads wait for the lock
 * @param waitedMillis how long the first of them has waited
 * @param actuator the address of its actuator, {@code null} before it is ready
 */
@SuppressWarnings("InvalidParam") // "stale" is a state
record LaneView(int lane, long pid, String state, @Nullable String token, long leaseMillis, long remainingMillis,
		boolean succeeded, int waiting, long waitedMillis, @Nullable String actuator) {

}
