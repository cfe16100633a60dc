package io.distributedlock.jdbc.dialect;

import java.nio.charset.StandardCharsets;

import org.junit.jupiter.api.Test;

import io.distributedlock.LockKey;

import static org.assertj.core.api.Assertions.assertThat;

class LockKeyEncoderTests {

	private final LockKeyEncoder encoder = new LockKeyEncoder("shop");

	@Test
	void keyBeginsWithThePrefix() {
		assertThat(this.encoder.encode(LockKey.of("orders", "42"))).isEqualTo("shop:orders:42");
	}

	@Test
	void prefixesAndPartsAreEncodedInjectively() {
		assertThat(this.encoder.encode(LockKey.of("a", "b"))).isNotEqualTo(this.encoder.encode(LockKey.of("a:b")))
			.isNotEqualTo(new LockKeyEncoder("shop:a").encode(LockKey.of("b")));
	}

	@Test
	void longKeysFitTheColumnAndStayDistinct() {
		String one = this.encoder.encode(LockKey.of("orders", "x".repeat(1000)));
		String other = this.encoder.encode(LockKey.of("orders", "x".repeat(1001)));
		assertThat(one).hasSize(LockKeyEncoder.LENGTH).startsWith("shop:orders:xxx").isNotEqualTo(other);
	}

	@Test
	void widthOfTheColumnCountsBytes() {
		for (String text : new String[] { "\u00e4", "\u20ac", "\ud83d\udd12" }) {
			int bytes = text.getBytes(StandardCharsets.UTF_8).length;
			int most = (LockKeyEncoder.LENGTH - "shop:orders:".length()) / bytes;
			assertThat(this.encoder.encode(LockKey.of("orders", text.repeat(most)))).endsWith(text);
			String longer = this.encoder.encode(LockKey.of("orders", text.repeat(most + 1)));
			assertThat(longer.getBytes(StandardCharsets.UTF_8)).hasSizeBetween(LockKeyEncoder.LENGTH - bytes,
					LockKeyEncoder.LENGTH);
			assertThat(longer).startsWith("shop:orders:" + text.repeat(200)).contains(text + "%#");
		}
	}

	@Test
	void internalRowsMeetNoKeyOfAnApplication() {
		assertThat(new LockKeyEncoder("%format").encode(LockKey.of("a"))).doesNotStartWith(LockKeyEncoder.FORMAT_ROW);
		assertThat(new LockKeyEncoder("%sweeper").encode(LockKey.of("a"))).doesNotStartWith(LockKeyEncoder.SWEEPER_ROW);
	}

}
