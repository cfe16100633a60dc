package io.distributedlock.autoconfigure;

/**
 * Location of the locks inside the store of one provider, for people to read. Contains no
 * secrets.
 *
 * @param provider the name of the provider
 * @param keyPrefix the prefix of every key in the store
 * @param location the table, server or node, in the terms of the store
 */
record LockStoreLocation(String provider, String keyPrefix, String location) {
}
