package io.distributedlock.annotation;

import java.time.Duration;

import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/** Parser of durations as people write them, never without a unit. */
final class DurationText {

	private DurationText() {
	}

	/**
	 * Reads a duration.
	 * @param text such as {@code 30s}, {@code PT30S} or {@code 0}
	 * @return the duration
	 * @throws IllegalArgumentException if it cannot be read, or lacks a unit
	 */
	static Duration parse(String text) {
		String trimmed = text.trim();
		if (trimmed.equals("0")) {
			return Duration.ZERO;
		}
		DurationFormat.Style style = DurationFormatterUtils.detect(trimmed);
		if (style == DurationFormat.Style.SIMPLE && Character.isDigit(trimmed.charAt(trimmed.length() - 1))) {
			throw new IllegalArgumentException("A duration needs a unit");
		}
		return DurationFormatterUtils.parse(trimmed, style);
	}

}
