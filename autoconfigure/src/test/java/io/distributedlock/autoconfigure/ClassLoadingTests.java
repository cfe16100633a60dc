package io.distributedlock.autoconfigure;

import java.io.File;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests of applications whose classes are loaded in an unusual way: with AspectJ on their
 * class path, and again by the restart class loader of DevTools.
 */
@Tag("full")
class ClassLoadingTests {

	private static final String PACKAGE = ClassLoadingTests.class.getPackageName();

	@Test
	void aspectsAreInsideOrOutsideTheLockByTheirOrder() throws Exception {
		assertThat(ClassUtils.isPresent("org.aspectj.weaver.Advice", getClass().getClassLoader())).isFalse();
		List<URL> urls = new ArrayList<>(List.of(jar("aspectjweaver")));
		for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
			urls.add(new File(entry).toURI().toURL());
		}
		try (URLClassLoader loader = new URLClassLoader(urls.toArray(URL[]::new),
				ClassLoader.getPlatformClassLoader())) {
			assertThat(call(loader, "AspectJApplication")).isEqualTo(
					List.of(List.of("outside", "lock", "inside", "body", "unlock", "lock", "inside", "body", "unlock"),
							List.of("lock", "inside", "body", "unlock"), List.of("lock", "body", "body", "unlock")));
		}
	}

	@Test
	void restartedApplicationHasLocks(@TempDir Path restarted) throws Exception {
		copyClasses("RestartedApplication", restarted);
		URL[] urls = { restarted.toUri().toURL() };
		try (URLClassLoader devtools = new URLClassLoader(new URL[] { jar("devtools") }, getClass().getClassLoader())) {
			for (int start = 0; start < 2; start++) {
				try (URLClassLoader loader = (URLClassLoader) devtools
					.loadClass("org.springframework.boot.devtools.restart.classloader.RestartClassLoader")
					.getConstructor(ClassLoader.class, URL[].class)
					.newInstance(devtools, urls)) {
					assertThat(call(loader, "RestartedApplication"))
						.isEqualTo(List.of("[hidden:7]", "[visible:large]", "[library]"));
				}
			}
		}
	}

	private static Object call(ClassLoader loader, String application) throws Exception {
		Thread thread = Thread.currentThread();
		ClassLoader before = thread.getContextClassLoader();
		thread.setContextClassLoader(loader);
		try {
			Class<?> type = loader.loadClass(PACKAGE + "." + application);
			assertThat(type.getClassLoader()).isSameAs(loader);
			return ((Callable<?>) type.getConstructor().newInstance()).call();
		}
		finally {
			thread.setContextClassLoader(before);
		}
	}

	private static URL jar(String name) throws MalformedURLException {
		String property = "distributed-lock.test." + name;
		String path = Objects.requireNonNull(System.getProperty(property), property);
		return Path.of(path).toUri().toURL();
	}

	private static void copyClasses(String prefix, Path root) throws IOException {
		Path folder = Files.createDirectories(root.resolve(PACKAGE.replace('.', '/')));
		Path compiled = Path.of("target", "test-classes").resolve(PACKAGE.replace('.', '/'));
		try (Stream<Path> files = Files.list(compiled)) {
			for (Path file : files.filter((path) -> path.getFileName().toString().startsWith(prefix)).toList()) {
				Files.copy(file, folder.resolve(file.getFileName()));
			}
		}
	}

}
