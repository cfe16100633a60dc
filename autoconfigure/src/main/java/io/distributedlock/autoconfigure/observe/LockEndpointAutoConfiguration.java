package io.distributedlock.autoconfigure.observe;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.autoconfigure.endpoint.expose.EndpointExposure;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

import io.distributedlock.actuate.DistributedLocksEndpoint;
import io.distributedlock.actuate.DistributedLocksEndpointWebExtension;
import io.distributedlock.autoconfigure.DistributedLockAutoConfiguration;
import io.distributedlock.autoconfigure.LockEngines;
import io.distributedlock.autoconfigure.LockStoreLocation;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.interceptor.LockedMethodRegistry;

/**
 * Auto-configuration for the endpoint {@code distributedlocks}.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = DistributedLockAutoConfiguration.class)
@ConditionalOnClass({ Endpoint.class, ConditionalOnAvailableEndpoint.class })
@ConditionalOnBean(name = LockEngines.BEAN_NAME)
@ConditionalOnAvailableEndpoint(DistributedLocksEndpoint.class)
@EnableConfigurationProperties(LockEndpointProperties.class)
public final class LockEndpointAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	DistributedLocksEndpoint distributedLocksEndpoint(LockEngines engines, ObjectProvider<LockStoreLocation> locations,
			ObjectProvider<LockedMethodRegistry> methods, LockSettings settings, LockEndpointProperties properties) {
		return new DistributedLocksEndpoint(() -> StoreDescriptions.managed(engines, locations),
				() -> StoreDescriptions.methods(methods), settings.callTimeout(), properties.showKeys());
	}

	@Bean
	@ConditionalOnMissingBean
	@ConditionalOnBean(DistributedLocksEndpoint.class)
	@ConditionalOnAvailableEndpoint(endpoint = DistributedLocksEndpoint.class, exposure = EndpointExposure.WEB)
	DistributedLocksEndpointWebExtension distributedLocksEndpointWebExtension(DistributedLocksEndpoint endpoint,
			LockEndpointProperties properties) {
		return new DistributedLocksEndpointWebExtension(endpoint, properties.showKeys(), properties.roles());
	}

}
