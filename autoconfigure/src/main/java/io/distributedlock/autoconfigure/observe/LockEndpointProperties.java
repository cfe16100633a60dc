package io.distributedlock.autoconfigure.observe;

import java.util.Set;

import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.context.annotation.Lazy;

/**
 * Properties of the endpoint 'distributedlocks'.
 *
 * @param showKeys When to show the keys of locks, which are masked otherwise.
 * @param roles Roles that authorize a user to be shown the keys of locks. When empty, all
 * authenticated users are authorized.
 * @since 0.1.0
 */
@Lazy
@ConfigurationProperties("distributed-lock.endpoint")
public record LockEndpointProperties(@DefaultValue("never") Show showKeys, @DefaultValue Set<String> roles) {
}
