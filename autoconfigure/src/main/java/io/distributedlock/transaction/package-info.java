/**
 * Keeps transactions from committing under a lost lock.
 */
@NullMarked
package io.distributedlock.transaction;

import org.jspecify.annotations.NullMarked;
