package io.distributedlock.actuate;

import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.OperationResponseBody;

import io.distributedlock.LockMode;

/**
 * The locks of an application as the endpoint shows them. Tokens are text, because JSON
 * would round them.
 *
 * @param process the label of this process, as other processes see it
 * @param providers the providers by their names
 * @param methods the locked methods of this process
 * @since 0.1.0
 */
public record LockOverview(String process, Map<String, ProviderDescriptor> providers,
		List<LockedMethodDescriptor> methods) implements OperationResponseBody {

	/**
	 * The locks of one provider.
	 *
	 * @param held the locks that this process holds
	 * @param waiting the requests of this process that wait
	 * @param store the locks of all processes, or {@code null} for a store that cannot
	 * list them cheaply
	 */
	public record ProviderDescriptor(List<HeldDescriptor> held, List<WaitingDescriptor> waiting,
			@Nullable StoreDescriptor store) {
	}

	/**
	 * The locks in a store, in the order of their keys.
	 *
	 * @param locks the first locks
	 * @param truncated whether there are more
	 * @param error why they could not be read, or {@code null}
	 */
	public record StoreDescriptor(List<StoredDescriptor> locks, boolean truncated, @Nullable String error) {
	}

	/**
	 * A lock that this process holds.
	 *
	 * @param name the name that locks of its kind share
	 * @param key the encoded key, masked unless keys are shown
	 * @param mode {@code EXCLUSIVE}, {@code SHARED} or {@code PERMIT}
	 * @param token the fencing token
	 * @param requester the thread or the asynchronous request that holds it
	 * @param heldForMillis how long it has been held
	 * @param leaseMillis how long it lasts in the store unless it is renewed
	 * @param remainingMillis the time until the local deadline
	 */
	public record HeldDescriptor(String name, String key, LockMode mode, String token, String requester,
			long heldForMillis, long leaseMillis, long remainingMillis) {
	}

	/**
	 * A request of this process that waits.
	 *
	 * @param name the name that locks of its kind share
	 * @param key the encoded key, masked unless keys are shown
	 * @param mode {@code EXCLUSIVE}, {@code SHARED} or {@code PERMIT}
	 * @param requester the thread or the asynchronous request that waits
	 * @param waitedForMillis how long it has waited
	 * @param waitTimeMillis how long it waits at most, or {@code null} without a limit
	 */
	public record WaitingDescriptor(String name, String key, LockMode mode, String requester, long waitedForMillis,
			@Nullable Long waitTimeMillis) {
	}

	/**
	 * A lock in the store.
	 *
	 * @param name the name that locks of its kind share
	 * @param key the encoded key, masked unless keys are shown
	 * @param token a token of its grant, or {@code null} if the store does not have one:
	 * the present one if this process holds it, otherwise the first
	 * @param holder the label of the process that holds it
	 * @param heldForMillis how long it has been held, or {@code null} if not known
	 * @param remainingMillis how long it lasts unless renewed, or {@code null} if not
	 * known
	 * @param kept whether it was released, and is kept for the rest of its shortest hold
	 */
	public record StoredDescriptor(String name, String key, @Nullable String token, String holder,
			@Nullable Long heldForMillis, @Nullable Long remainingMillis, boolean kept) {
	}

}
