package io.distributedlock.redis;

/**
 * The names under which one lock stands in the store, all in one slot of a cluster.
 *
 * @param text the name of the lock, which is also what its waiters are woken with
 * @param lock the name of the lock
 * @param orders the last order of its bucket
 * @param line the line of the processes that wait for it
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record RedisLockKeys(String text, byte[] lock, byte[] orders, byte[] line) {
}
