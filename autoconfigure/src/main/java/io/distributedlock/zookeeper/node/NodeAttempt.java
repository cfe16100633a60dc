package io.distributedlock.zookeeper.node;

import io.distributedlock.LockKey;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.zookeeper.session.LockPath;
import io.distributedlock.zookeeper.session.Session;

/**
 * One attempt of one owner to acquire one lock in one session.
 *
 * @param key the lock
 * @param path the paths of the lock's nodes
 * @param owner the owner id, which only this process knows
 * @param session the session in which all requests of the attempt are sent
 */
public record NodeAttempt(LockKey key, LockPath path, OwnerId owner, Session session) {

}
