package io.distributedlock.autoconfigure.redis;

import java.time.Duration;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.context.annotation.Lazy;

import io.distributedlock.autoconfigure.DistributedLockProperties;

/**
 * Configuration properties for locks in Redis. The connection is that of
 * {@code spring.data.redis}.
 *
 * @param minReplicas Number of replicas that have to acknowledge a grant or a renewal
 * before it counts.
 * @param replicaTimeout Maximum time to wait for these replicas.
 * @param twemproxy Whether Twemproxy is before the servers. With true you confirm what
 * cannot be seen through it: that its auto_eject_hosts is false, and that all of its
 * processes have the same configuration.
 * @since 0.1.0
 */
@Lazy
@ConfigurationProperties("distributed-lock.redis")
public record RedisLockProperties(@DefaultValue("0") int minReplicas, @DefaultValue("500ms") Duration replicaTimeout,
		@DefaultValue("false") boolean twemproxy) {

	/**
	 * Requires that replicas can answer before the call ends. Otherwise a lock would be
	 * granted in the server, and the call that asked for it would fail.
	 */
	void requireWithin(Duration callTimeout) {
		if (this.minReplicas > 0 && this.replicaTimeout.compareTo(callTimeout) >= 0) {
			throw DistributedLockProperties.invalid("redis.replica-timeout", this.replicaTimeout.toMillis() + " ms",
					"but the whole call ends after " + callTimeout.toMillis() + " ms (distributed-lock.call-timeout)",
					"Use less than " + callTimeout.toMillis() + "ms, or a longer call-timeout");
		}
	}

}
