package io.distributedlock.autoconfigure;

import java.time.Duration;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Configuration properties for locks in Redis. The connection is that of
 * {@code spring.data.redis}.
 *
 * @param minReplicas Number of replicas that have to acknowledge a grant or a renewal
 * before it counts.
 * @param replicaTimeout Maximum time to wait for these replicas.
 * @since 0.1.0
 */
@ConfigurationProperties("distributed-lock.redis")
public record RedisLockProperties(@DefaultValue("0") int minReplicas, @DefaultValue("500ms") Duration replicaTimeout) {
}
