package io.distributedlock.engine;

import java.util.List;

import io.distributedlock.LockContext;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.engine.grant.EngineLease;
import io.distributedlock.engine.grant.HeldGrants;

/**
 * Locks that outlast the calls that have acquired them, because the transaction of the
 * thread has not completed. Safe for use by many threads.
 */
final class TransactionScope {

	private final EnclosingTransaction transaction;

	private final HeldGrants heldGrants;

	TransactionScope(EnclosingTransaction transaction, HeldGrants heldGrants) {
		this.transaction = transaction;
		this.heldGrants = heldGrants;
	}

	/**
	 * Keeps a lock, and its scope on this thread, until the transaction that is running
	 * has completed. The scope has the handle that the body gets, so that a body that
	 * ignores the loss of its lock ignores it until then.
	 */
	void keep(EngineLease lease) {
		if (this.transaction.isRunning()) {
			// Before it is kept: nothing can join a lock that the transaction refuses.
			this.transaction.acquired(lease);
			EngineLease kept = lease.keep();
			if (kept == null) {
				lease.throwLoss(LockError.LOST_WHILE_ACQUIRING);
				throw new IllegalStateException("Lock " + lease.keys() + " was released before its work began");
			}
			lease.recordKept();
			endWithTransaction(kept, LockContext.openOutermost(lease));
		}
	}

	/**
	 * Closes a lock; inside a transaction that no scope of the thread keeps its keys for,
	 * after that has completed.
	 */
	void close(EngineLease lease) {
		if (this.transaction.isRunning() && !isCovered(lease)) {
			endWithTransaction(lease, LockContext.openOutermost(lease));
		}
		else {
			lease.close();
		}
	}

	private boolean isCovered(EngineLease lease) {
		List<LockLease> enclosing = LockContext.findAll();
		return lease.keys().stream().allMatch((key) -> enclosing.stream().anyMatch((outer) -> holds(outer, key)));
	}

	/** Another engine's lock of the same key protects nothing here. */
	private boolean holds(LockLease outer, LockKey key) {
		EngineLease part = (outer instanceof EngineLease lease && lease.isOf(this.heldGrants)) ? lease.part(key) : null;
		return part != null && part.isHeld();
	}

	private void endWithTransaction(EngineLease kept, LockContext.Scope scope) {
		Runnable end = () -> {
			try {
				scope.close();
			}
			finally {
				kept.close();
			}
		};
		try {
			this.transaction.afterCompletion(end);
		}
		catch (RuntimeException | Error ex) {
			end.run();
			throw ex;
		}
	}

}
