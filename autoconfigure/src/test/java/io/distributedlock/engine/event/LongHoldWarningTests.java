package io.distributedlock.engine.event;

import java.util.Random;

import org.junit.jupiter.api.Test;

import io.distributedlock.engine.event.LongHoldWarning.HoldCounter;

import static org.assertj.core.api.Assertions.assertThat;

class LongHoldWarningTests {

	private final HoldCounter counter = new HoldCounter();

	@Test
	void fewHoldsSayNothing() {
		assertThat(reports(LongHoldWarning.MIN_HOLDS - 1, 1)).isZero();
	}

	@Test
	void moreThanOneInTwentyIsReportedOnce() {
		assertThat(reports(LongHoldWarning.MIN_HOLDS, 1)).isEqualTo(1);
		assertThat(reports(5000, 1)).isZero();
	}

	@Test
	void oneInTwentyIsNotReported() {
		assertThat(reports(10_000, 20)).isZero();
	}

	@Test
	void holdsThatBecomeLongAreReportedSoon() {
		assertThat(reports(10_000_000, Integer.MAX_VALUE)).isZero();
		int holds = 1;
		while (!this.counter.add(true)) {
			holds++;
		}
		assertThat(holds).isLessThan(100);
	}

	@Test
	void randomHoldsAreReportedIfMoreThanFivePercentAreLong() {
		assertThat(reported(0.03)).isFalse();
		assertThat(reported(0.08)).isTrue();
	}

	private static boolean reported(double longOnes) {
		HoldCounter random = new HoldCounter();
		Random numbers = new Random(7);
		boolean reported = false;
		for (int i = 0; i < 400; i++) {
			reported |= random.add(i >= LongHoldWarning.MIN_HOLDS && numbers.nextDouble() < longOnes);
		}
		return reported;
	}

	/** Adds holds, one in so many of which is long, and counts the reports. */
	private int reports(int holds, int oneIn) {
		int reports = 0;
		for (int i = 1; i <= holds; i++) {
			reports += this.counter.add(i % oneIn == 0) ? 1 : 0;
		}
		return reports;
	}

}
