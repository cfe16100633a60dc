package io.distributedlock.mistakes;

import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockContext;

/** What callers know of each bean with a mistake. */
public interface Task {

	/** The number of bodies that ran without a lock. */
	AtomicInteger UNLOCKED = new AtomicInteger();

	/** The number of bodies that ran under a lock. */
	AtomicInteger LOCKED = new AtomicInteger();

	@Nullable Object run(@Nullable String id) throws Exception;

	/** The body of each method that is locked, or would be but for the mistake. */
	static void body() {
		(LockContext.find().isPresent() ? LOCKED : UNLOCKED).incrementAndGet();
	}

}
