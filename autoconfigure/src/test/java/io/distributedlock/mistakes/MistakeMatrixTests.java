package io.distributedlock.mistakes;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.LoggerFactory;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.distributedlock.InvalidLockKeyException;
import io.distributedlock.LockConfigurationException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Each mistake in each shape of a bean, in a real application: something fails with the
 * exact message, or is logged with it, and no body runs without its lock.
 */
@ExtendWith(OutputCaptureExtension.class)
class MistakeMatrixTests {

	private static final List<Logger> NOISY = Stream
		.of("org.springframework.boot.diagnostics", "org.springframework.boot.SpringApplication",
				"org.springframework.context")
		.map((name) -> (Logger) LoggerFactory.getLogger(name))
		.toList();

	@BeforeAll
	static void silence() {
		NOISY.forEach((logger) -> logger.setLevel(Level.OFF));
	}

	@AfterAll
	static void restore() {
		NOISY.forEach((logger) -> logger.setLevel(null));
	}

	@BeforeEach
	void reset() {
		Task.UNLOCKED.set(0);
		Task.LOCKED.set(0);
	}

	@ParameterizedTest(name = "{0} {1}")
	@MethodSource("cells")
	void noMistakeIsSilent(Mistake mistake, Shape shape, Class<?> type, CapturedOutput output) {
		Subject.Outcome outcome = new Subject(mistake, shape, type).use();
		assertThat(Task.UNLOCKED).hasValue(0);
		if (mistake.harmlessShapes().contains(shape)) {
			assertThat(outcome.failure()).isNull();
		}
		else if (mistake.shapesOfSpring().contains(shape)) {
			assertThat(outcome.failure()).hasStackTraceContaining("Could not generate CGLIB subclass");
		}
		else {
			assertThat(outcome.phase()).isEqualTo(mistake.phase(shape));
			String message = mistake.isOnlySuspected() ? warning(output) : message(outcome);
			assertThat(message).isEqualTo(mistake.message(type.getEnclosingClass()));
		}
	}

	static Stream<Arguments> cells() {
		return Arrays.stream(Mistake.values())
			.flatMap((mistake) -> Arrays.stream(Shape.values())
				.filter((shape) -> shape.type(mistake.type()) != null)
				.filter((shape) -> mistake != Mistake.PROPERTY_SET || shape != Shape.FACTORY_BEAN)
				.map((shape) -> Arguments.of(mistake, shape, shape.type(mistake.type()))));
	}

	private static String message(Subject.Outcome outcome) {
		assertThat(outcome.failure()).isInstanceOfAny(LockConfigurationException.class, InvalidLockKeyException.class);
		return outcome.failure()
			.getMessage()
			.replace("scopedTarget.", "")
			.replaceFirst("(\\S+run\\[]) and (\\S+run\\[class java.lang.String])", "$2 and $1");
	}

	private static String warning(CapturedOutput output) {
		List<String> warnings = output.toString().lines().filter((line) -> line.contains(" WARN ")).toList();
		assertThat(warnings).hasSize(1);
		String warning = warnings.get(0);
		return warning.substring(warning.indexOf("DL-")).replaceFirst("line \\d+", "line *");
	}

	@ParameterizedTest
	@EnumSource
	void beanWithoutAMistakeIsLockedInEachShape(Shape shape) {
		Class<?> type = shape.type("Lockable");
		assertThat(new Subject(Mistake.PRIVATE_METHOD, shape, type).use().failure()).isNull();
		assertThat(Task.LOCKED).hasValue(1);
		assertThat(Task.UNLOCKED).hasValue(0);
	}

	@Test
	void eachMistakeHasACell() {
		assertThat(cells().map((cell) -> cell.get()[0]).distinct()).hasSize(Mistake.values().length);
	}

}
