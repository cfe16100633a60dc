package io.distributedlock.sample;

import java.time.Duration;

/**
 * Command of the control process to its workers, as one line of text.
 *
 * @param eventId the event to sell out
 * @param locked whether each sale is guarded by the lock
 * @param thinkTime how long a customer thinks between seeing a free seat and buying it
 */
public record SellCommand(int eventId, boolean locked, Duration thinkTime) {

	/**
	 * Parses the text of {@link #toLine()}.
	 * @param line the line
	 * @return the command
	 * @throws IllegalArgumentException if the line is no command
	 */
	public static SellCommand parse(String line) {
		String[] words = line.split(" ");
		if (words.length != 4 || !"sell".equals(words[0])) {
			throw new IllegalArgumentException("Not a command: '" + line + "'");
		}
		return new SellCommand(Integer.parseInt(words[1]), Boolean.parseBoolean(words[2]),
				Duration.ofMillis(Long.parseLong(words[3])));
	}

	/**
	 * Formats the command as a line of text.
	 * @return the line, without a line break
	 */
	public String toLine() {
		return "sell " + this.eventId + " " + this.locked + " " + this.thinkTime.toMillis();
	}

}
