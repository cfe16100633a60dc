package io.distributedlock.transaction;

import java.time.Duration;
import java.util.function.Supplier;

import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

import io.distributedlock.LockContext;

/**
 * A guard that refuses the commit of a transaction whose thread runs under a lost lock:
 * the transaction is rolled back, and the caller gets the
 * {@link io.distributedlock.LockLostException}. Nested transactions of their own are
 * guarded too, and so is a transaction after the call that has acquired the lock in it. A
 * lock whose loss is ignored is not checked.
 * <p>
 * With a margin it also refuses to commit when less than that is left of a lock's lease.
 * <p>
 * A loss between this check and the end of the commit is not noticed; only a fenced
 * resource detects it. The exception must not be a {@code TransactionException}: Spring
 * would not roll back. Safe for use by many threads.
 *
 * @since 0.1.0
 */
public final class LockCommitGuard implements TransactionExecutionListener {

	private final Supplier<Duration> margin;

	/** Creates a guard that refuses only commits under a lock that was lost. */
	public LockCommitGuard() {
		this(() -> Duration.ZERO);
	}

	/**
	 * Creates a guard.
	 * @param margin supplies what has to be left of each lock's lease at the commit
	 */
	LockCommitGuard(Supplier<Duration> margin) {
		this.margin = margin;
	}

	@Override
	public void beforeCommit(TransactionExecution transaction) {
		LockContext.ensureNoneLost(this.margin.get());
	}

}
