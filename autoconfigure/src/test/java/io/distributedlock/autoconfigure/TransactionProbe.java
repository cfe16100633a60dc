package io.distributedlock.autoconfigure;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.distributedlock.LockContext;

/** Remembers whether the lock was still held when the transaction had committed. */
final class TransactionProbe implements TransactionSynchronization {

	private static boolean lockedAtCommit;

	static void register() {
		lockedAtCommit = false;
		TransactionSynchronizationManager.registerSynchronization(new TransactionProbe());
	}

	static boolean committedInsideLock() {
		return lockedAtCommit;
	}

	@Override
	public void afterCommit() {
		lockedAtCommit = LockContext.find().isPresent();
	}

}
