package io.distributedlock.autoconfigure;

import org.springframework.beans.factory.ObjectProvider;

import io.distributedlock.provider.LockProvider;

/** A bean that needs the providers that there are, in a context without engines. */
public final class ProviderUser {

	ProviderUser(ObjectProvider<LockProvider> providers) {
		providers.forEach(LockProvider::name);
	}

}
