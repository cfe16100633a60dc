package io.distributedlock.fencing;

import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Listener that fences the transactions of one transaction manager. Leaves those alone
 * that only read. Safe for use by many threads.
 */
final class FencingListener implements TransactionExecutionListener {

	private final PlatformTransactionManager manager;

	private final boolean database;

	private final Supplier<FencedTransactions> fences;

	FencingListener(PlatformTransactionManager manager, boolean database, Supplier<FencedTransactions> fences) {
		this.manager = manager;
		this.database = database;
		this.fences = fences;
	}

	@Override
	public void beforeBegin(TransactionExecution transaction) {
		if (!transaction.isReadOnly()) {
			this.fences.get().beforeBegin();
		}
	}

	@Override
	public void afterBegin(TransactionExecution transaction, @Nullable Throwable beginFailure) {
		if (transaction.isReadOnly()) {
			return;
		}
		if (beginFailure != null) {
			this.fences.get().beginFailed();
			return;
		}
		try {
			this.fences.get().afterBegin(transaction, this.database);
		}
		catch (RuntimeException | Error ex) {
			rollBack(transaction, ex);
			throw ex;
		}
	}

	/**
	 * Rolls back a transaction that has begun. Spring undoes only a beginning that has
	 * failed itself: the connection would stay bound to the thread. Afterwards the thread
	 * is as Spring expects it after a beginning that has failed: the outer transaction is
	 * suspended, and Spring resumes it.
	 * @param refusal what the caller throws then
	 */
	private void rollBack(TransactionExecution transaction, Throwable refusal) {
		if (!(transaction instanceof TransactionStatus status)) {
			return;
		}
		boolean suspended = hasSuspended(status);
		try {
			this.manager.rollback(status);
		}
		catch (RuntimeException | Error ex) {
			refusal.addSuppressed(ex);
		}
		if (suspended) {
			suspendAgain();
		}
	}

	private static boolean hasSuspended(TransactionStatus status) {
		return status instanceof DefaultTransactionStatus known && known.getSuspendedResources() != null;
	}

	/** Undoes that the rollback has resumed what was suspended. */
	private void suspendAgain() {
		TransactionStatus without = this.manager
			.getTransaction(new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_NOT_SUPPORTED));
		if (!hasSuspended(without) && TransactionSynchronizationManager.isSynchronizationActive()) {
			// There was no outer transaction, but work with synchronizations.
			TransactionSynchronizationManager.getSynchronizations().forEach(TransactionSynchronization::suspend);
		}
		TransactionSynchronizationManager.clear();
	}

	/**
	 * A failure must not be a {@code TransactionException}: Spring would not roll back.
	 */
	@Override
	public void beforeCommit(TransactionExecution transaction) {
		this.fences.get().beforeCommit(transaction);
	}

	@Override
	public void afterCommit(TransactionExecution transaction, @Nullable Throwable commitFailure) {
		this.fences.get().ended(transaction);
	}

	@Override
	public void afterRollback(TransactionExecution transaction, @Nullable Throwable rollbackFailure) {
		this.fences.get().ended(transaction);
	}

}
