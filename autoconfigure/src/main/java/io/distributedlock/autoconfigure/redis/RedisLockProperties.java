package io.distributedlock.autoconfigure.redis;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

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
 * @param twemproxyAutoEjectHosts Whether the Twemproxy before the servers ejects hosts,
 * as auto_eject_hosts in its configuration says. Must be false, and unset if there is no
 * Twemproxy.
 * @since 0.1.0
 */
@Lazy
@ConfigurationProperties("distributed-lock.redis")
public record RedisLockProperties(@DefaultValue("0") int minReplicas, @DefaultValue("500ms") Duration replicaTimeout,
		@Nullable Boolean twemproxyAutoEjectHosts) {

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

	/**
	 * Whether Twemproxy is before the servers. That it ejects no host cannot be seen
	 * through it, so its operator confirms it.
	 */
	boolean isBehindTwemproxy() {
		if (Boolean.TRUE.equals(this.twemproxyAutoEjectHosts)) {
			throw DistributedLockProperties.invalid("redis.twemproxy-auto-eject-hosts", "true",
					"but then Twemproxy gives the locks of a server that fails for a moment to another server, "
							+ "which does not have them, so that they get a second holder",
					"Set auto_eject_hosts: false in the configuration of Twemproxy, restart it, and set the property "
							+ "to false");
		}
		return this.twemproxyAutoEjectHosts != null;
	}

}
