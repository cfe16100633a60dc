package io.distributedlock.fencing;

import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

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
			RefusedTransaction.rollBack(this.manager, transaction, ex);
			throw ex;
		}
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
