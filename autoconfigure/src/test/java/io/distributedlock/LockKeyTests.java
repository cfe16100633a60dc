package io.distributedlock;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class LockKeyTests {

	private static final String[] PIECES = { ":", "%", "::", "%3A", "%25", "%u", "%uD83D", "%D8", "\ud83d", "\ude80",
			"\ud83d\ude80", "\0", "\n", "\u007f", "%00", "%7F", "a", "b", "A", " ", "\u00e9", "e\u0301", "3A", "u",
			"\ufffd" };

	@Test
	void differentKeysHaveDifferentTexts() {
		Random random = new Random(20260101);
		Map<String, List<String>> seen = new HashMap<>();
		for (int number = 0; number < 200_000; number++) {
			List<String> parts = randomParts(random);
			String encoded = LockKey.of("n", parts).encoded();
			List<String> before = seen.putIfAbsent(encoded, parts);
			if (before != null) {
				assertThat(parts).as("the parts behind %s", encoded).isEqualTo(before);
			}
		}
		assertThat(seen).hasSizeGreaterThan(50_000);
	}

	@Test
	void differentKeysHaveDifferentBytes() {
		Random random = new Random(7);
		Map<String, String> seen = new HashMap<>();
		for (int number = 0; number < 100_000; number++) {
			String encoded = LockKey.of("n", randomParts(random)).encoded();
			String decoded = new String(encoded.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
			assertThat(decoded).isEqualTo(encoded);
			seen.put(decoded, encoded);
		}
		assertThat(seen).hasSizeGreaterThan(30_000);
	}

	@Test
	void namesAndPartsDoNotRunIntoEachOther() {
		assertThat(LockKey.of("a", "b")).isNotEqualTo(LockKey.of("a:b")).isNotEqualTo(LockKey.of("a", "b", "b"));
		assertThat(LockKey.of("a:b", "c")).isNotEqualTo(LockKey.of("a", "b:c"));
		assertThat(LockKey.of("a", "b", "c").encoded()).isEqualTo("a:b:c");
		assertThat(LockKey.of("a", "b:c").encoded()).isEqualTo("a:b%3Ac");
	}

	@Test
	void textHasNoControlCharactersAndNoHalfPairs() {
		Random random = new Random(42);
		for (int number = 0; number < 10_000; number++) {
			String encoded = LockKey.of("n", randomParts(random)).encoded();
			assertThat(encoded.codePoints()).noneMatch((point) -> point < ' ' || point == 0x7f)
				.noneMatch((point) -> point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE);
		}
	}

	@Test
	void equalNamesAndPartsMakeEqualKeys() {
		LockKey key = LockKey.of("order", "7");
		assertThat(key).isEqualTo(LockKey.of("order", List.of("7")))
			.hasSameHashCodeAs(LockKey.of("order", "7"))
			.isEqualByComparingTo(LockKey.of("order", "7"))
			.hasToString("order:7");
		assertThat(key.name()).isEqualTo("order");
		assertThat(key.parts()).containsExactly("7");
	}

	@Test
	void keyDoesNotFollowTheListItWasMadeOf() {
		List<String> parts = new ArrayList<>(List.of("7"));
		LockKey key = LockKey.of("order", parts);
		parts.set(0, "8");
		assertThat(key.parts()).containsExactly("7");
	}

	@Test
	void longKeyIsShortenedForMessagesOnly() {
		LockKey key = LockKey.of("order", "x".repeat(1000));
		assertThat(key.toString()).hasSizeLessThan(220).contains("1006 characters");
		assertThat(key.encoded()).hasSize(1006);
	}

	@Test
	void nullIsRefused() {
		assertThatExceptionOfType(InvalidLockKeyException.class)
			.isThrownBy(() -> LockKey.of("order", Arrays.asList("7", null)))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NULL_KEY));
	}

	@Test
	void blankIsRefused() {
		for (String blank : new String[] { "", " ", "\t\n" }) {
			assertThatExceptionOfType(InvalidLockKeyException.class).isThrownBy(() -> LockKey.of("order", blank))
				.withMessageStartingWith("DL-502")
				.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.BLANK_KEY));
			assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> LockKey.of(blank, "7"))
				.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.BLANK_KEY));
		}
	}

	private static List<String> randomParts(Random random) {
		List<String> parts = new ArrayList<>();
		int count = 1 + random.nextInt(3);
		for (int part = 0; part < count; part++) {
			StringBuilder text = new StringBuilder();
			do {
				text.append(PIECES[random.nextInt(PIECES.length)]);
			}
			while (text.toString().isBlank() || random.nextInt(3) > 0);
			parts.add(text.toString());
		}
		return parts;
	}

	@Test
	void partsAreThoseThatWereGivenWhateverTheyContain() {
		Random random = new Random(42);
		String letters = "a:%u0\n\u0085é\ud83d\ude00\ud83d\ude00/ A";
		for (int i = 0; i < 2000; i++) {
			List<String> parts = IntStream.range(0, random.nextInt(4))
				.mapToObj((part) -> random.ints(1 + random.nextInt(6), 0, letters.length())
					.mapToObj((index) -> String.valueOf(letters.charAt(index)))
					.collect(Collectors.joining("x", "p", "")))
				.toList();
			LockKey key = LockKey.of("na:me", parts);
			assertThat(key.parts()).isEqualTo(parts);
			assertThat(key.name()).isEqualTo("na:me");
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", ":a", "a:", "a: ", "a%", "a%4", "a%zz", "a%u12", "a%41", "a%3a", "a\nb" })
	void noKeyHasThisTextForm(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> LockKey.ofEncoded(text));
	}

	@Test
	void textFormLeadsBackToTheKey() {
		for (LockKey key : List.of(LockKey.of("a"),
				LockKey.of("a:b%", "c:\n%3A", "\ud800", "\ud83d\ude00 <script>/\"'"),
				LockKey.of("a", " b ", "\u00e4"))) {
			assertThat(LockKey.ofEncoded(key.encoded())).isEqualTo(key);
			assertThat(LockKey.ofEncoded(key.encoded()).name()).isEqualTo(key.name());
			assertThat(LockKey.ofEncoded(key.encoded()).parts()).isEqualTo(key.parts());
		}
	}

}
