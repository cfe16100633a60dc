package io.distributedlock.fencing;

import io.distributedlock.LockLease;
import io.distributedlock.engine.EnclosingTransaction;

/**
 * A running transaction that is fenced with each lock that is acquired in it.
 *
 * @since 0.1.0
 */
public final class FencedEnclosingTransaction implements EnclosingTransaction {

	private final EnclosingTransaction transaction;

	private final FencedTransactions fences;

	/**
	 * Creates the transaction.
	 * @param transaction the transaction of the calling thread
	 * @param fences the fences
	 */
	public FencedEnclosingTransaction(EnclosingTransaction transaction, FencedTransactions fences) {
		this.transaction = transaction;
		this.fences = fences;
	}

	@Override
	public boolean isRunning() {
		return this.transaction.isRunning();
	}

	@Override
	public void afterCompletion(Runnable action) {
		this.transaction.afterCompletion(action);
	}

	@Override
	public void acquired(LockLease lease) {
		this.fences.acquired(lease);
	}

}
