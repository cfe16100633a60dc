package io.distributedlock.redis.script;

/**
 * The Redis keys of one lock, all in one slot of a cluster.
 *
 * @param name the key of the lock's value as text, which is also the message of a
 * notification
 * @param lock the key of the lock's value
 * @param lastOrder the key of the last order of the lock's bucket
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record RedisLockKeys(String name, byte[] lock, byte[] lastOrder) {
}
