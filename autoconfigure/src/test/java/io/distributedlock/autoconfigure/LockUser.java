package io.distributedlock.autoconfigure;

import io.distributedlock.LockOperations;

/** A bean that locks by hand, so that its application needs a store. */
public record LockUser(LockOperations locks) {
}
