package io.distributedlock.autoconfigure;

/**
 * A bean that prepares a store for its first lock, as by a table, when it is created
 * itself. It is created before the first engine, so that an application without locks
 * changes no store.
 */
public interface LockStorePreparation {

}
