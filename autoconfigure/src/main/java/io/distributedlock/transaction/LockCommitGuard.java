package io.distributedlock.transaction;

import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

import io.distributedlock.LockContext;

/**
 * Refuses to begin the commit of a transaction whose thread runs under a lost lock: it is
 * rolled back, and the caller gets the {@link io.distributedlock.LockLostException}. An
 * inner transaction of its own is guarded too; a lock whose loss is to be ignored is not.
 * <p>
 * What is lost between this check and the end of the commit remains open; only a fenced
 * resource can tell. The exception must not be a {@code TransactionException}: Spring
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
