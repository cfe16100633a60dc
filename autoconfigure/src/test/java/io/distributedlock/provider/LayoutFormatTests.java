package io.distributedlock.provider;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

class LayoutFormatTests {

	private final LayoutFormat format = new LayoutFormat(2);

	@ParameterizedTest
	@ValueSource(strings = { "0", "1", "2" })
	void formatUpToTheNumberIsSupported(String found) {
		assertThatNoException().isThrownBy(() -> this.format.requireSupported("the table 'x'", found));
	}

	@ParameterizedTest
	@ValueSource(strings = { "3", "10", "9223372036854775808", "two", "" })
	void newerOrUnreadableFormatIsRefused(String found) {
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> this.format.requireSupported("the table 'x'", found))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NEWER_FORMAT))
			.satisfies((ex) -> assertThat(ex.problem()).isEqualTo("The locks in the table 'x' have format '" + found
					+ "', but this version supports formats up to 2"));
	}

	@Test
	void textOfTheFormatIsSupported() {
		assertThat(this.format.text()).isEqualTo("2");
		assertThatNoException().isThrownBy(() -> this.format.requireSupported("the table 'x'", this.format.text()));
	}

}
