/**
 * The vocabulary of distributed locking: requests, leases, fencing tokens, exceptions,
 * and the contract between the engine and the stores.
 */
@NullMarked
package io.distributedlock;

import org.jspecify.annotations.NullMarked;
