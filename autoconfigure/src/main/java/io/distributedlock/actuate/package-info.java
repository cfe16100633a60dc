/**
 * Health of the lock stores, and the endpoint by which operators see and release locks.
 */
@NullMarked
package io.distributedlock.actuate;

import org.jspecify.annotations.NullMarked;
