package io.distributedlock.jdbc.dialect;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.springframework.util.Assert;

/**
 * Words by which a dialect fills the gaps of SQL templates, written as
 * <code>{word}</code> or <code>{word(argument)}</code>, where the argument, a word or a
 * column, stands for {@code %s} in the word. A word may have gaps of its own. Immutable.
 */
final class SqlWords {

	private static final Pattern GAP = Pattern.compile("\\{(\\w+)(?:\\(([\\w.]+)\\))?}");

	private final Map<String, String> words;

	private SqlWords(Map<String, String> words) {
		this.words = words;
	}

	static SqlWords of(String word, String text) {
		return new SqlWords(Map.of(word, text));
	}

	SqlWords with(String word, String text) {
		Map<String, String> more = new LinkedHashMap<>(this.words);
		Assert.state(more.put(word, text) == null, () -> "The word '" + word + "' is given twice");
		return new SqlWords(more);
	}

	/** Fills all gaps of a template. */
	String fill(String template) {
		Matcher gaps = GAP.matcher(template);
		StringBuilder filled = new StringBuilder();
		while (gaps.find()) {
			String word = gaps.group(1);
			String text = this.words.get(word);
			if (text == null) {
				throw new IllegalStateException("There is no word '" + word + "' for " + template);
			}
			String argument = (gaps.group(2) != null) ? gaps.group(2) : "";
			String value = this.words.containsKey(argument) ? "{" + argument + "}" : argument;
			gaps.appendReplacement(filled, Matcher.quoteReplacement(fill(text.replace("%s", value))));
		}
		return gaps.appendTail(filled).toString();
	}

}
