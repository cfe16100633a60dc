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
 * @param fenceTimeout Longest wait for the transaction of an earlier holder.
 * @param fenceTable Name of the table of the fences, optionally with its schema.
 * @param fenceInitializeSchema Mode of creating the table of the fences.
 * @since 0.1.0
 */
@Lazy
@ConfigurationProperties("distributed-lock.transaction")
public record FenceProperties(@DefaultValue("5s") Duration fenceTimeout,
		@DefaultValue(FenceSettings.DEFAULT_TABLE) String fenceTable,
		@DefaultValue("embedded") DatabaseInitializationMode fenceInitializeSchema) {

	private static final Duration SHORTEST = Duration.ofSeconds(1);

	private static final Duration LONGEST = Duration.ofHours(1);

	public FenceProperties {
		TableName.require("distributed-lock.transaction.fence-table", fenceTable);
		if (fenceTimeout.compareTo(SHORTEST) < 0 || fenceTimeout.compareTo(LONGEST) > 0) {
			throw DistributedLockProperties.invalid("transaction.fence-timeout", fenceTimeout, "but must be 1s to 1h",
					"Leave it unset for 5s");
		}
	}

}
