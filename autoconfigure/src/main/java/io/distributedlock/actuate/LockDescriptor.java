package io.distributedlock.actuate;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.OperationResponseBody;

import io.distributedlock.actuate.LockOverview.HeldDescriptor;
import io.distributedlock.actuate.LockOverview.StoredDescriptor;
import io.distributedlock.actuate.LockOverview.WaitingDescriptor;

/**
 * One lock as the endpoint shows it.
 *
 * @param provider the name of the provider
 * @param name the name that locks of its kind share
 * @param key the encoded key, masked unless keys are shown
 * @param held the holds of this process; one at most, unless it has shares or locking is
 * off
 * @param waiting the requests of this process that wait
 * @param store the lock in the store, whichever process holds it, or its shares; empty if
 * it is free or cannot be read
 * @param error why the store could not be read, or {@code null}
 * @since 0.1.0
 */
public record LockDescriptor(String provider, String name, String key, List<HeldDescriptor> held,
		List<WaitingDescriptor> waiting, List<StoredDescriptor> store,
		@Nullable String error) implements OperationResponseBody {

	/** Whether any process holds the lock or waits for it, as far as it is known. */
	boolean isKnown() {
		return !this.held.isEmpty() || !this.waiting.isEmpty() || !this.store.isEmpty();
	}

}
