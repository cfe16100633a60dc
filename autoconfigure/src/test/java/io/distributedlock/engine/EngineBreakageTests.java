package io.distributedlock.engine;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import io.distributedlock.BrokenSource;
import io.distributedlock.testkit.Soak;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Breaks the engine on purpose, and expects that the simulation notices: a check that
 * cannot fail shows nothing.
 */
@ExtendWith(SilentLogger.class)
class EngineBreakageTests {

	private static final Path SOURCES = Path.of("src/main/java/io/distributedlock");

	/** The packages of what may be broken. */
	private static final List<String> PACKAGES = List.of("engine", "local");

	private static final long SEEDS = 100_000;

	private static final long FEW_SEEDS = 256;

	@TempDir
	private Path folder;

	static List<EngineBreakage> breakages() {
		return EngineBreakage.ALL;
	}

	@ParameterizedTest
	@MethodSource("breakages")
	void breakageIsOneOfThePresentEngine(EngineBreakage breakage) throws IOException {
		String source = Files.readString(file(breakage));
		assertThat(source.split(Pattern.quote(breakage.text()), -1)).as(breakage.text()).hasSize(2);
	}

	/** Returns the source of the class that is broken, in whichever room it is. */
	private static Path file(EngineBreakage breakage) throws IOException {
		for (String name : PACKAGES) {
			try (Stream<Path> files = Files.walk(SOURCES.resolve(name))) {
				Optional<Path> found = files.filter((file) -> file.endsWith(breakage.type() + ".java")).findAny();
				if (found.isPresent()) {
					return found.get();
				}
			}
		}
		throw new IllegalStateException(breakage.type());
	}

	/**
	 * Shows that what is found is the breakage, and not the way in which it is loaded.
	 */
	@Test
	@Tag("full")
	void engineThatIsNotBrokenShowsNoViolation() throws Exception {
		assertThat(firstViolation(Files.createDirectory(this.folder.resolve("nothing")), FEW_SEEDS)).isNull();
	}

	@ParameterizedTest
	@MethodSource("breakages")
	@Soak
	void simulationFindsTheBreakage(EngineBreakage breakage) throws Exception {
		assertThat(firstViolation(compile(breakage), SEEDS)).as(breakage.name()).isNotNull();
	}

	/** Compiles the class that is broken. */
	private Path compile(EngineBreakage breakage) throws IOException {
		Path classes = Files.createDirectory(this.folder.resolve("classes"));
		BrokenSource.write(file(breakage), breakage.text(), breakage.replacement(), classes);
		return classes;
	}

	/** Returns the first violation that the seeds show, or {@code null}. */
	private static @Nullable String firstViolation(Path classes, long seeds) throws ReflectiveOperationException {
		Class<?> simulation = new BrokenEngine(classes).loadClass(EngineSimulation.class.getName());
		Constructor<?> constructor = simulation.getDeclaredConstructor(long.class);
		constructor.setAccessible(true);
		Method run = simulation.getDeclaredMethod("run");
		run.setAccessible(true);
		// One after the other: an engine that is broken may not come to an end with the
		// next seed.
		for (long seed = 0; seed < seeds; seed++) {
			String violation = violation(constructor, run, seed);
			if (violation != null) {
				return violation;
			}
		}
		return null;
	}

	private static @Nullable String violation(Constructor<?> constructor, Method run, long seed) {
		try {
			List<?> violations = (List<?>) run.invoke(constructor.newInstance(seed));
			return violations.isEmpty() ? null : "seed " + seed + ": " + violations.get(0);
		}
		catch (InvocationTargetException ex) {
			if (ex.getCause() instanceof LinkageError broken) {
				throw broken;
			}
			return "seed " + seed + ": " + ex.getCause();
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Loads the broken engine, and the simulation beside it. */
	private static final class BrokenEngine extends ClassLoader {

		private final Path classes;

		private BrokenEngine(Path classes) {
			super(EngineSimulation.class.getClassLoader());
			this.classes = classes;
		}

		@Override
		protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
			if (PACKAGES.stream().noneMatch((broken) -> name.startsWith("io.distributedlock." + broken + "."))) {
				return super.loadClass(name, resolve);
			}
			synchronized (getClassLoadingLock(name)) {
				Class<?> loaded = findLoadedClass(name);
				return (loaded != null) ? loaded : findClass(name);
			}
		}

		@Override
		protected Class<?> findClass(String name) throws ClassNotFoundException {
			Path broken = this.classes.resolve(name.replace('.', '/') + ".class");
			try {
				byte[] code = Files.exists(broken) ? Files.readAllBytes(broken)
						: original('/' + name.replace('.', '/') + ".class");
				return defineClass(name, code, 0, code.length);
			}
			catch (IOException ex) {
				throw new ClassNotFoundException(name, ex);
			}
		}

		private static byte[] original(String file) throws IOException {
			try (InputStream stream = EngineSimulation.class.getResourceAsStream(file)) {
				return Objects.requireNonNull(stream, file).readAllBytes();
			}
		}

	}

}
