package io.distributedlock;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Application event: a lock stayed busy for the whole wait time of a request. Published
 * on a thread of the library, as {@link LockListener#onBusy} is called.
 *
 * @param provider the name of the provider that keeps the lock
 * @param key the key that was busy
 * @param mode the mode of the request
 * @param waited how long the request waited
 * @param holder the holder, or {@code null} if not known
 * @since 0.1.0
 */
public record LockBusyEvent(String provider, LockKey key, LockMode mode, Duration waited, @Nullable LockHolder holder) {
}
