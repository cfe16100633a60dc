package io.distributedlock.autoconfigure;

/**
 * The place of the locks inside the store of one provider, for people to read. Contains
 * no secrets.
 *
 * @param provider the name of the provider
 * @param keyPrefix the prefix of every key in the store
 * @param place the table, server or node, in the terms of the store
 */
record LockStorePlace(String provider, String keyPrefix, String place) {
}
