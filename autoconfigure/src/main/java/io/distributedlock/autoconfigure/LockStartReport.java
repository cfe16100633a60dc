package io.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.List;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.convert.DurationStyle;

import io.distributedlock.support.LockSettings;

/**
 * The line at start that names the store of the locks, why it was chosen, its place, and
 * the defaults that apply.
 */
final class LockStartReport implements SmartInitializingSingleton {

	private static final Log logger = LogFactory.getLog(LockStartReport.class);

	private final SelectedLockProvider selected;

	private final List<LockStorePlace> places;

	private final LockSettings settings;

	LockStartReport(SelectedLockProvider selected, List<LockStorePlace> places, LockSettings settings) {
		this.selected = selected;
		this.places = places;
		this.settings = settings;
	}

	@Override
	public void afterSingletonsInstantiated() {
		String provider = this.selected.provider().name();
		StringBuilder line = new StringBuilder("Distributed locks: store '").append(provider)
			.append("' (")
			.append(this.selected.reason())
			.append(')');
		this.places.stream().filter((place) -> place.provider().equals(provider)).findFirst().ifPresent((place) -> {
			line.append(", ").append(place.place());
			line.append(", key prefix '").append(place.keyPrefix()).append('\'');
		});
		line.append(", lease ").append(text(this.settings.lease()));
		line.append(", wait-time ").append(text(this.settings.waitTime()));
		logger.info(line);
	}

	private static String text(Duration duration) {
		return (duration.toMillis() % 1000 == 0) ? duration.toSeconds() + "s" : DurationStyle.SIMPLE.print(duration);
	}

}
