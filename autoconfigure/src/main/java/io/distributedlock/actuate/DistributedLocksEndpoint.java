package io.distributedlock.actuate;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;

import io.distributedlock.FencingToken;
import io.distributedlock.LockKey;
import io.distributedlock.actuate.ForcedRelease.Outcome;
import io.distributedlock.actuate.LockOverview.ProviderDescriptor;
import io.distributedlock.provider.ProcessLabel;

/**
 * Endpoint that shows the locks of the application, and releases one by force. A key is
 * named by its {@linkplain LockKey#encoded() encoded text}.
 * <p>
 * Reads ask each store once, for the call time-out at most. A release needs unrestricted
 * access to the endpoint, and the token that the lock has.
 *
 * @since 0.1.0
 */
@Endpoint(id = "distributedlocks", defaultAccess = Access.READ_ONLY)
public class DistributedLocksEndpoint {

	/** Stands for a requester that is not known, as over JMX. */
	static final String UNKNOWN_REQUESTER = "unknown";

	private final Supplier<List<ManagedProvider>> providers;

	private final Supplier<List<LockedMethodDescriptor>> methods;

	private final Duration timeout;

	private final Show showKeys;

	private final LockReleaser releaser;

	/**
	 * Creates an endpoint.
	 * @param providers the providers of the application
	 * @param methods the locked methods of this process
	 * @param timeout how long a call to a store may take
	 * @param showKeys when keys are shown; where nobody can be authorized, as over JMX,
	 * only {@link Show#ALWAYS} shows them
	 */
	public DistributedLocksEndpoint(Supplier<List<ManagedProvider>> providers,
			Supplier<List<LockedMethodDescriptor>> methods, Duration timeout, Show showKeys) {
		this.providers = providers;
		this.methods = methods;
		this.timeout = timeout;
		this.showKeys = showKeys;
		this.releaser = new LockReleaser(timeout);
	}

	/**
	 * Returns what this process holds and waits for, and where the store lists it cheaply
	 * also what others hold.
	 * @return the locks
	 */
	@ReadOperation
	public LockOverview locks() {
		return locks(this.showKeys.isShown(false));
	}

	LockOverview locks(boolean keysShown) {
		DescriptorFactory factory = new DescriptorFactory(keysShown, this.timeout);
		Map<String, ProviderDescriptor> described = new LinkedHashMap<>();
		this.providers.get().forEach((provider) -> described.put(provider.name(), factory.describe(provider)));
		return new LockOverview(ProcessLabel.get(), described, this.methods.get());
	}

	/**
	 * Returns one lock, as this process and the store know it.
	 * @param provider the name of the provider
	 * @param key the encoded text of the key
	 * @return the lock, or {@code null} if the application has no such provider
	 */
	@ReadOperation
	public @Nullable LockDescriptor lock(@Selector String provider, String key) {
		return lock(provider, key, this.showKeys.isShown(false));
	}

	@Nullable LockDescriptor lock(String provider, String key, boolean keysShown) {
		LockKey lockKey = key(key);
		ManagedProvider found = find(provider);
		return (found != null) ? new DescriptorFactory(keysShown, this.timeout).describe(found, lockKey) : null;
	}

	/**
	 * Takes a lock away from its holder. The holder may still be working: only a fenced
	 * resource is protected from it.
	 * @param provider the name of the provider
	 * @param key the encoded text of the key
	 * @param token the present token of the lock
	 * @return what has happened
	 */
	@DeleteOperation
	public ForcedRelease forceRelease(@Selector String provider, String key, String token) {
		return forceRelease(provider, key, token, UNKNOWN_REQUESTER);
	}

	ForcedRelease forceRelease(String provider, String key, String token, String requester) {
		LockKey lockKey = key(key);
		FencingToken fencingToken = token(token);
		ManagedProvider found = find(provider);
		return (found != null) ? this.releaser.release(found, lockKey, fencingToken, requester)
				: new ForcedRelease(Outcome.NOT_HELD,
						"The application has no provider of that name, or nothing has needed its locks so far");
	}

	private @Nullable ManagedProvider find(String name) {
		return this.providers.get()
			.stream()
			.filter((provider) -> provider.name().equals(name))
			.findFirst()
			.orElse(null);
	}

	private static LockKey key(String encoded) {
		return parse("key", "the encoded text of a key", () -> LockKey.ofEncoded(encoded));
	}

	private static FencingToken token(String text) {
		return parse("token", "a fencing token, which is a positive number",
				() -> new FencingToken(Long.parseLong(text)));
	}

	private static <T> T parse(String parameter, String meaning, Supplier<T> value) {
		try {
			return value.get();
		}
		catch (IllegalArgumentException ex) {
			String problem = "The parameter '" + parameter + "' is not " + meaning;
			// What was no number is the caller's, and not repeated.
			throw new InvalidEndpointRequestException(problem,
					(ex instanceof NumberFormatException) ? problem : problem + ": " + ex.getMessage(), ex);
		}
	}

}
