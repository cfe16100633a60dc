package io.distributedlock.autoconfigure.fencing;

import java.time.Duration;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.context.annotation.Lazy;

import io.distributedlock.autoconfigure.DistributedLockProperties;
import io.distributedlock.fencing.FenceSettings;
import io.distributedlock.jdbc.TableName;

/**
 * Configuration properties for fenced transactions.
 *
 * @param enabled Whether databases refuse transactions of holders whose lock has passed
 * to another.
 * @param timeout Longest wait for the transaction of an earlier holder.
 * @param table Name of the table of the fences, optionally with its schema.
 * @param initializeSchema Mode of creating the table of the fences.
 * @since 0.1.0
 */
@Lazy
@ConfigurationProperties("distributed-lock.fencing")
public record FenceProperties(@DefaultValue("false") boolean enabled, @DefaultValue("5s") Duration timeout,
		@DefaultValue(FenceSettings.DEFAULT_TABLE) String table,
		@DefaultValue("embedded") DatabaseInitializationMode initializeSchema) {

	private static final Duration SHORTEST = Duration.ofSeconds(1);

	private static final Duration LONGEST = Duration.ofHours(1);

	public FenceProperties {
		TableName.require("distributed-lock.fencing.table", table);
		if (timeout.compareTo(SHORTEST) < 0 || timeout.compareTo(LONGEST) > 0) {
			throw DistributedLockProperties.invalid("fencing.timeout", timeout, "but must be 1s to 1h",
					"Leave it unset for 5s");
		}
	}

}
