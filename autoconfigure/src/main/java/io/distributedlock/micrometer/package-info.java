/**
 * Observations of locks and meters, tagged with the names of locks and never with their
 * keys.
 * <p>
 * {@code LockMeterRegistration}, {@code MeterLockObserver} and {@code LockCounters} need
 * {@code micrometer-core}; the others need {@code micrometer-observation} alone.
 */
@NullMarked
package io.distributedlock.micrometer;

import org.jspecify.annotations.NullMarked;
