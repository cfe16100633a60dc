package io.distributedlock.actuate;

/** Text of others inside a line of the log, which it cannot end or disguise. */
final class LogText {

	private static final int MAX_LENGTH = 500;

	private LogText() {
	}

	/**
	 * Escapes control characters, line separators, and invisible characters that change
	 * the direction of text, and cuts a long text.
	 */
	static String escape(String text) {
		StringBuilder escaped = new StringBuilder(text.length());
		for (int i = 0; i < text.length() && i < MAX_LENGTH; i++) {
			char c = text.charAt(i);
			if (isUnsafe(c)) {
				escaped.append(String.format("\\u%04x", (int) c));
			}
			else {
				escaped.append(c);
			}
		}
		return escaped.append((text.length() > MAX_LENGTH) ? "…" : "").toString();
	}

	private static boolean isUnsafe(char c) {
		return Character.isISOControl(c) || switch (Character.getType(c)) {
			case Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR, Character.FORMAT -> true;
			default -> false;
		};
	}

}
