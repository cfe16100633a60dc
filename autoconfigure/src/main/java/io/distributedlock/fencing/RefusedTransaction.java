package io.distributedlock.fencing;

import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Rollback of a transaction that has begun, and whose listener refuses it. Spring undoes
 * only a beginning that has failed itself: the connection would stay bound to the thread.
 */
final class RefusedTransaction {

	private RefusedTransaction() {
	}

	/**
	 * Rolls back. Afterwards the thread is as Spring expects it after a beginning that
	 * has failed: the outer transaction is suspended, and Spring resumes it.
	 * @param refusal what the caller throws then
	 */
	static void rollBack(PlatformTransactionManager manager, TransactionExecution transaction, Throwable refusal) {
		if (!(transaction instanceof TransactionStatus status)) {
			return;
		}
		boolean suspended = hasSuspended(status);
		try {
			manager.rollback(status);
		}
		catch (RuntimeException | Error ex) {
			refusal.addSuppressed(ex);
		}
		if (suspended) {
			suspendAgain(manager);
		}
	}

	private static boolean hasSuspended(TransactionStatus status) {
		return status instanceof DefaultTransactionStatus known && known.getSuspendedResources() != null;
	}

	/** Undoes that the rollback has resumed what was suspended. */
	private static void suspendAgain(PlatformTransactionManager manager) {
		TransactionStatus without = manager
			.getTransaction(new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_NOT_SUPPORTED));
		if (!hasSuspended(without) && TransactionSynchronizationManager.isSynchronizationActive()) {
			// There was no outer transaction, but work with synchronizations.
			TransactionSynchronizationManager.getSynchronizations().forEach(TransactionSynchronization::suspend);
		}
		TransactionSynchronizationManager.clear();
	}

}
