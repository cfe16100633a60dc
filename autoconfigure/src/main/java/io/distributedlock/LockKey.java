package io.distributedlock;

import java.util.Arrays;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * The key of a lock: a bounded {@link #name() name}, which all locks of one kind share
 * and which is fit for a tag of a metric, and the parts that identify one lock of that
 * kind.
 * <p>
 * Two keys are equal exactly when their name and parts are, and so are their
 * {@link #encoded() encoded} texts: parts are joined by {@code ':'}, in which every
 * {@code ':'}, {@code '%'}, control character and unpaired surrogate is escaped. Keys are
 * data: nothing in them is ever evaluated. Immutable.
 *
 * @since 0.1.0
 */
public final class LockKey implements Comparable<LockKey> {

	private final String name;

	/** Has all parts too: there is one key for each held lock. */
	private final String encoded;

	private LockKey(String name, List<String> parts) {
		this.name = name;
		this.encoded = encode(name, parts);
	}

	/**
	 * Creates a key of the given name and parts.
	 * @param name the bounded name, not blank
	 * @param parts the parts, none blank; no parts mean the one lock of that name
	 * @return the key
	 * @throws LockConfigurationException if the name is {@code null} or blank
	 * @throws InvalidLockKeyException if a part is {@code null} or blank
	 */
	public static LockKey of(String name, String... parts) {
		return of(name, Arrays.asList(parts));
	}

	/**
	 * Creates a key of the given name and parts.
	 * @param name the bounded name, not blank
	 * @param parts the parts, none blank; no parts mean the one lock of that name
	 * @return the key
	 * @throws LockConfigurationException if the name is {@code null} or blank
	 * @throws InvalidLockKeyException if a part is {@code null} or blank
	 */
	public static LockKey of(String name, List<String> parts) {
		if (hasNoText(name)) {
			throw new LockConfigurationException((name == null) ? LockError.NULL_KEY : LockError.BLANK_KEY,
					"The name of a lock is " + ((name == null) ? "null" : "blank"), "Give each lock a name of its own");
		}
		for (String part : parts) {
			if (hasNoText(part)) {
				String fact = (part == null) ? "null" : "blank";
				throw new InvalidLockKeyException((part == null) ? LockError.NULL_KEY : LockError.BLANK_KEY,
						"The part of the key of lock '" + name + "' is " + fact, "Give each lock a key of its own: a "
								+ fact + " key would make unrelated callers share one lock");
			}
		}
		return new LockKey(name, parts);
	}

	/**
	 * Creates the key that has a given text form.
	 * @param encoded the text, as {@link #encoded()} returns it
	 * @return the key
	 * @throws IllegalArgumentException if no key has this text form
	 */
	public static LockKey ofEncoded(String encoded) {
		List<String> texts = Arrays.stream(encoded.split(":", -1)).map(LockKey::decodeStrictly).toList();
		Assert.isTrue(texts.stream().noneMatch(String::isBlank), "A key has a name, and no part of it is blank");
		LockKey key = new LockKey(texts.get(0), texts.subList(1, texts.size()));
		Assert.isTrue(key.encoded.equals(encoded),
				"A key has ':', '%' and control characters only as separators and escapes, such as %3A and %25");
		return key;
	}

	private static String decodeStrictly(String encoded) {
		try {
			return decode(encoded);
		}
		catch (IndexOutOfBoundsException ex) {
			throw new IllegalArgumentException("The escape at the end of '" + encoded + "' is not complete", ex);
		}
	}

	private static boolean hasNoText(@Nullable String text) {
		return text == null || text.isBlank();
	}

	private static String encode(String name, List<String> parts) {
		StringBuilder text = new StringBuilder(name.length() + 16 * parts.size());
		append(text, name);
		for (String part : parts) {
			text.append(':');
			append(text, part);
		}
		return text.toString();
	}

	private static void append(StringBuilder text, String part) {
		int c;
		for (int i = 0; i < part.length(); i += Character.charCount(c)) {
			c = part.codePointAt(i);
			if (c == ':' || c == '%' || Character.isISOControl(c)) {
				text.append('%').append(hex(c >> 4)).append(hex(c));
			}
			else if (c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE) {
				// It is unpaired, and UTF-8 encodes all of those alike.
				text.append("%u").append(hex(c >> 12)).append(hex(c >> 8)).append(hex(c >> 4)).append(hex(c));
			}
			else {
				text.appendCodePoint(c);
			}
		}
	}

	private static char hex(int digit) {
		return Character.toUpperCase(Character.forDigit(digit & 0xf, 16));
	}

	/**
	 * Returns the bounded name that all locks of this kind share.
	 * @return the name, never blank
	 */
	public String name() {
		return this.name;
	}

	/**
	 * Returns the parts that identify this lock among those of its name.
	 * @return the parts, unmodifiable, possibly empty
	 */
	public List<String> parts() {
		String[] texts = this.encoded.split(":", -1);
		return Arrays.stream(texts, 1, texts.length).map(LockKey::decode).toList();
	}

	/** Reverses what {@link #encode} does to a part. */
	private static String decode(String encoded) {
		if (encoded.indexOf('%') < 0) {
			return encoded;
		}
		StringBuilder text = new StringBuilder(encoded.length());
		for (int i = 0; i < encoded.length(); i++) {
			char c = encoded.charAt(i);
			if (c != '%') {
				text.append(c);
				continue;
			}
			boolean surrogate = encoded.charAt(i + 1) == 'u';
			int begin = surrogate ? i + 2 : i + 1;
			int end = begin + (surrogate ? 4 : 2);
			text.append((char) Integer.parseInt(encoded, begin, end, 16));
			i = end - 1;
		}
		return text.toString();
	}

	/**
	 * Returns the injective text form: different keys have different texts, made of
	 * characters that every store keeps unchanged.
	 * @return the text, in which neither control characters nor unpaired surrogates occur
	 */
	public String encoded() {
		return this.encoded;
	}

	@Override
	public int compareTo(LockKey other) {
		Assert.notNull(other, "'other' must not be null");
		return this.encoded.compareTo(other.encoded);
	}

	@Override
	public boolean equals(Object other) {
		return this == other || (other instanceof LockKey that && this.encoded.equals(that.encoded));
	}

	@Override
	public int hashCode() {
		return this.encoded.hashCode();
	}

	@Override
	public String toString() {
		return (this.encoded.length() <= 200) ? this.encoded
				: this.encoded.substring(0, 180) + "… (" + this.encoded.length() + " characters)";
	}

}
