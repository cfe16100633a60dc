package io.distributedlock.actuate;

import java.security.Principal;
import java.util.Set;

import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;

/**
 * The {@link DistributedLocksEndpoint} over HTTP: it knows who asks, and answers with a
 * status.
 *
 * @since 0.1.0
 */
@EndpointWebExtension(endpoint = DistributedLocksEndpoint.class)
public class DistributedLocksEndpointWebExtension {

	private final DistributedLocksEndpoint endpoint;

	private final Show showKeys;

	private final Set<String> roles;

	/**
	 * Creates an extension.
	 * @param endpoint the endpoint
	 * @param showKeys when keys are shown
	 * @param roles the roles of which an authorized user has one; empty if each
	 * authenticated user is authorized
	 */
	public DistributedLocksEndpointWebExtension(DistributedLocksEndpoint endpoint, Show showKeys, Set<String> roles) {
		this.endpoint = endpoint;
		this.showKeys = showKeys;
		this.roles = Set.copyOf(roles);
	}

	/**
	 * Returns what this process and the stores hold.
	 * @param securityContext the security context of the request
	 * @return the locks
	 */
	@ReadOperation
	public LockOverview locks(SecurityContext securityContext) {
		return this.endpoint.locks(isShown(securityContext));
	}

	/**
	 * Returns one lock.
	 * @param securityContext the security context of the request
	 * @param provider the name of the provider
	 * @param key the encoded text of the key
	 * @return the lock; with 404 if nobody holds it or waits for it, and with 503 if that
	 * is not known because the store could not answer
	 */
	@ReadOperation
	public WebEndpointResponse<LockDescriptor> lock(SecurityContext securityContext, @Selector String provider,
			String key) {
		LockDescriptor lock = this.endpoint.lock(provider, key, isShown(securityContext));
		if (lock == null) {
			return new WebEndpointResponse<>(WebEndpointResponse.STATUS_NOT_FOUND);
		}
		return new WebEndpointResponse<>(lock, lock.isKnown() ? WebEndpointResponse.STATUS_OK : (lock.error() != null)
				? WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE : WebEndpointResponse.STATUS_NOT_FOUND);
	}

	/**
	 * Takes a lock away from its holder.
	 * @param securityContext the security context of the request
	 * @param provider the name of the provider
	 * @param key the encoded text of the key
	 * @param token the present token of the lock
	 * @return what has happened; with 404 if nobody holds the lock, with 409 if the token
	 * is not that of the lock, and with 503 if the store could not answer
	 */
	@DeleteOperation
	public WebEndpointResponse<ForcedRelease> forceRelease(SecurityContext securityContext, @Selector String provider,
			String key, String token) {
		Principal principal = securityContext.getPrincipal();
		String requester = (principal != null && principal.getName() != null) ? principal.getName()
				: DistributedLocksEndpoint.UNKNOWN_REQUESTER;
		ForcedRelease answer = this.endpoint.forceRelease(provider, key, token, requester);
		return new WebEndpointResponse<>(answer, answer.outcome().status());
	}

	private boolean isShown(SecurityContext securityContext) {
		return this.showKeys.isShown(securityContext, this.roles);
	}

}
