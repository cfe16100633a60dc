/**
 * Keeps locks until the transactions that they were acquired in have completed, and
 * transactions from committing under a lost lock.
 */
@NullMarked
package io.distributedlock.transaction;

import org.jspecify.annotations.NullMarked;
