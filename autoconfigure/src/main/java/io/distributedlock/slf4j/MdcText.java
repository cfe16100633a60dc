package io.distributedlock.slf4j;

/**
 * The text of an entry: a name or key may come from outside, and must not forge a log
 * line.
 */
final class MdcText {

	private MdcText() {
	}

	/**
	 * Escapes control and format characters and separators of lines, as {@code %u000A}.
	 */
	static String of(String text) {
		for (int i = 0; i < text.length(); i++) {
			if (isEscaped(text.charAt(i))) {
				return escaped(text);
			}
		}
		return text;
	}

	private static String escaped(String text) {
		StringBuilder escaped = new StringBuilder(text.length() + 16);
		for (int i = 0; i < text.length(); i++) {
			char c = text.charAt(i);
			if (isEscaped(c)) {
				escaped.append(String.format("%%u%04X", (int) c));
			}
			else {
				escaped.append(c);
			}
		}
		return escaped.toString();
	}

	private static boolean isEscaped(char c) {
		return switch (Character.getType(c)) {
			case Character.CONTROL, Character.FORMAT, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> true;
			default -> false;
		};
	}

}
