package io.distributedlock.transaction;

import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

import io.distributedlock.LockContext;

/**
 * A guard that refuses the commit of a transaction whose thread runs under a lost lock:
 * the transaction is rolled back, and the caller gets the
 * {@link io.distributedlock.LockLostException}. Nested transactions of their own are
 * guarded too. A lock whose loss is ignored is not checked.
 * <p>
 * A loss between this check and the end of the commit is not noticed; only a fenced
 * resource detects it. The exception must not be a {@code TransactionException}: Spring
 * would not roll back. Safe for use by many threads.
 *
 * @since 0.1.0
 */
public final class LockCommitGuard implements TransactionExecutionListener {

	@Override
	public void beforeCommit(TransactionExecution transaction) {
		LockContext.ensureNoneLost();
	}

}
