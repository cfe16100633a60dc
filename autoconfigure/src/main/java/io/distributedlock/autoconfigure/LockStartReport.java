package io.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.List;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.boot.convert.DurationStyle;

import io.distributedlock.engine.grant.LockSettings;

/**
 * The line at start that names a store of the locks, why it was chosen, its location, and
 * the defaults that apply.
 */
final class LockStartReport {

	private static final Log logger = LogFactory.getLog(LockStartReport.class);

	private final List<LockStoreLocation> locations;

	private final LockSettings settings;

	LockStartReport(List<LockStoreLocation> locations, LockSettings settings) {
		this.locations = locations;
		this.settings = settings;
	}

	/** Logs a line for each engine. */
	void report(List<ProviderEngine> engines) {
		engines.forEach(this::report);
	}

	private void report(ProviderEngine engine) {
		String provider = engine.provider().name();
		StringBuilder line = new StringBuilder("Distributed locks: store '").append(provider)
			.append("' (")
			.append(engine.reason())
			.append(')');
		this.locations.stream().filter((own) -> own.provider().equals(provider)).findFirst().ifPresent((own) -> {
			line.append(", ").append(own.location());
			line.append(", key prefix '").append(own.keyPrefix()).append('\'');
		});
		line.append(", lease ").append(text(this.settings.lease()));
		line.append(", wait-time ").append(text(this.settings.waitTime()));
		logger.info(line);
	}

	private static String text(Duration duration) {
		return (duration.toMillis() % 1000 == 0) ? duration.toSeconds() + "s" : DurationStyle.SIMPLE.print(duration);
	}

}
