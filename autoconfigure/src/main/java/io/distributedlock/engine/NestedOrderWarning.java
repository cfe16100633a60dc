package io.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.grant.EngineLease;
import io.distributedlock.engine.grant.HeldGrants;

/**
 * Warning that a nested request waits for a key that sorts before one that its thread
 * holds: with another call that nests them in the opposite order it forms a deadlock,
 * which lasts until a wait time is over, if there is one. Logged once for each pair of
 * lock names. Safe for use by many threads.
 */
final class NestedOrderWarning {

	private static final Log logger = LogFactory.getLog(NestedOrderWarning.class);

	/** Pairs beyond this number are not logged. */
	static final int MAX_PAIRS = 1000;

	/** The packages on the way from the application's code to here. */
	private static final List<String> PASSED = List.of("io.distributedlock.engine.", "io.distributedlock.interceptor.",
			"io.distributedlock.reactive.", "org.springframework.", "reactor.", "java.", "jdk.");

	private final HeldGrants heldGrants;

	private final Duration waitTime;

	private final Set<Pair> logged = ConcurrentHashMap.newKeySet();

	/**
	 * Creates a warning that was not logged yet.
	 * @param waitTime the wait time of requests that name none
	 */
	NestedOrderWarning(HeldGrants heldGrants, Duration waitTime) {
		this.heldGrants = heldGrants;
		this.waitTime = waitTime;
	}

	/**
	 * Checks a request.
	 * @param keys its keys that are not held, sorted
	 * @param request the request; one that does not wait cannot form a deadlock
	 * @param enclosing the locks that its thread or its reactive flow runs under
	 * @param unlimited whether it waits as long as it takes, whatever its wait time is
	 */
	void check(List<LockKey> keys, LockRequest request, List<LockLease> enclosing, boolean unlimited) {
		for (int i = 0; i < enclosing.size(); i++) {
			LockLease outer = enclosing.get(i);
			if (outer instanceof EngineLease lease && lease.isOf(this.heldGrants) && lease.isHeld()
					&& (unlimited || mayWait(request))) {
				outer.keys()
					.stream()
					.filter((held) -> keys.get(0).compareTo(held) < 0)
					.forEach((held) -> warn(keys.get(0), held, unlimited));
			}
		}
	}

	private boolean mayWait(LockRequest request) {
		Duration own = request.waitTime();
		return !((own != null) ? own : this.waitTime).isZero();
	}

	private void warn(LockKey requested, LockKey held, boolean unlimited) {
		if (this.logged.size() < MAX_PAIRS && this.logged.add(new Pair(held.name(), requested.name()))) {
			String place = place();
			logger.warn(LockError.NESTED_ORDER.describe(
					"The lock '" + requested + "' was requested" + ((place != null) ? " by " + place : "")
							+ " while the lock '" + held + "' is held, although its key sorts before that one: a call"
							+ " that nests these two the other way round and this one can wait for each other "
							+ (unlimited ? "for ever" : "until a wait time is over"),
					"Request both keys at once, which acquires them in order, or nest them in the order of their keys"
							+ " everywhere"));
		}
	}

	/** Finds the application's code that made the request, if it is on this thread. */
	private static @Nullable String place() {
		return StackWalker.getInstance()
			.walk((frames) -> frames.filter(NestedOrderWarning::isOfApplication).findFirst())
			.map((frame) -> frame.toStackTraceElement().toString())
			.orElse(null);
	}

	private static boolean isOfApplication(StackWalker.StackFrame frame) {
		return PASSED.stream().noneMatch(frame.getClassName()::startsWith) && !frame.getClassName().contains("$$");
	}

	/**
	 * The names of two locks.
	 *
	 * @param held the name of the lock that is held
	 * @param requested the name of the lock that was requested under it
	 */
	private record Pair(String held, String requested) {
	}

}
