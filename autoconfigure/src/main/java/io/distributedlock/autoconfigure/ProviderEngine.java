package io.distributedlock.autoconfigure;

import io.distributedlock.engine.LockTemplate;
import io.distributedlock.provider.LockProvider;

/**
 * The engine of one provider.
 *
 * @param provider the provider
 * @param reason why it has one, for people to read
 * @param primary whether it keeps the locks of methods that name no provider
 * @param template the engine
 */
public record ProviderEngine(LockProvider provider, String reason, boolean primary, LockTemplate template) {
}
