package io.distributedlock.zookeeper;

import io.distributedlock.LockKey;
import io.distributedlock.provider.OwnerId;

/**
 * One attempt of one owner to acquire one lock in one session.
 *
 * @param key the lock
 * @param path the paths of the lock's nodes
 * @param owner the owner id, which only this process knows
 * @param session the session in which all requests of the attempt are sent
 */
record LockAttempt(LockKey key, LockPath path, OwnerId owner, Session session) {

}
