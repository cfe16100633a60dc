package io.distributedlock.transaction;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.distributedlock.engine.EnclosingTransaction;

/**
 * The transaction that Spring has bound to the calling thread. Its actions run behind
 * those that the application has registered with a higher precedence, whether it was
 * committed, rolled back, or has ended in an unknown way. Where the transaction manager
 * notifies of the end on another thread, as with JTA, they run there.
 * <p>
 * A transaction without synchronization counts as none, because nothing tells its end: a
 * suspended one, one of a transaction manager whose synchronization is switched off, and
 * one whose end is being handled. Safe for use by many threads.
 *
 * @since 0.1.0
 */
public final class SpringTransaction implements EnclosingTransaction {

	@Override
	public boolean isRunning() {
		return TransactionSynchronizationManager.isActualTransactionActive()
				&& TransactionSynchronizationManager.isSynchronizationActive();
	}

	@Override
	public void afterCompletion(Runnable action) {
		TransactionSynchronizationManager.registerSynchronization(new AfterCompletion(action));
	}

	/** Has the lowest precedence, which is the default of a synchronization. */
	private record AfterCompletion(Runnable action) implements TransactionSynchronization {

		@Override
		public void afterCompletion(int status) {
			this.action.run();
		}

	}

}
