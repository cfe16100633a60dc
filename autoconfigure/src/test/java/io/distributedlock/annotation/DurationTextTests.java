package io.distributedlock.annotation;

import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class DurationTextTests {

	@ParameterizedTest
	@ValueSource(strings = { "30s", " 30s ", "PT30S", "30000ms", "0m30s" })
	void readsEachWayToWriteADuration(String text) {
		assertThat(DurationText.parse(text)).isEqualTo(Duration.ofSeconds(30));
	}

	@Test
	void readsZeroWithoutUnit() {
		assertThat(DurationText.parse("0")).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "30", "soon", "30 seconds", "s" })
	void refusesTextWithoutUnitOrNumber(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> DurationText.parse(text));
	}

}
