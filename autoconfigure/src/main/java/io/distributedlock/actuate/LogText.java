package io.distributedlock.actuate;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Text of others inside a line of the log, which it cannot end or disguise. */
final class LogText {

	private static final int MAX_LENGTH = 500;

	/** Control characters, separators of lines, and invisible signs of direction. */
	private static final Pattern UNSAFE = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]");

	private LogText() {
	}

	/**
	 * Escapes control characters, line separators, and invisible characters that change
	 * the direction of text, and cuts a long text.
	 */
	static String escape(String text) {
		String shown = (text.length() > MAX_LENGTH) ? text.substring(0, MAX_LENGTH) + "…" : text;
		return UNSAFE.matcher(shown)
			.replaceAll((found) -> Matcher.quoteReplacement(String.format("\\u%04x", found.group().codePointAt(0))));
	}

}
