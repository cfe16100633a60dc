package io.distributedlock.actuate;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class LogTextTests {

	@Test
	void textCannotEndOrDisguiseALine() {
		assertThat(LogText.escape("eve\r\n2026 ERROR \u001b[2J\u2028\u202e\u200b\u0085"))
			.isEqualTo("eve\\u000d\\u000a2026 ERROR \\u001b[2J\\u2028\\u202e\\u200b\\u0085");
		assertThat(LogText.escape("J\u00f6rg <b>'")).isEqualTo("J\u00f6rg <b>'");
	}

	@Test
	void longTextIsCut() {
		assertThat(LogText.escape("x".repeat(10_000))).hasSize(501).endsWith("\u2026");
	}

}
