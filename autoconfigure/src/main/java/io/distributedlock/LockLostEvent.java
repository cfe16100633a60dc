package io.distributedlock;

/**
 * Application event: a lock was lost while its holder still worked. Published on a thread
 * of the library, after {@link LockListener#onLost}'s rules.
 *
 * @param provider the name of the provider that kept the lock
 * @param lease the lost lock
 * @param reason the reason of the loss
 * @since 0.1.0
 */
public record LockLostEvent(String provider, LockLease lease, LossReason reason) {
}
