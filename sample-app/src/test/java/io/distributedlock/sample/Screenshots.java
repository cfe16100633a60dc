package io.distributedlock.sample;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Pictures for the documentation, made only when the system property
 * {@code sample.screenshots} names a directory for them.
 */
final class Screenshots {

	private static final int WIDTH = 1240;

	private static final int HEIGHT = 1130;

	private Screenshots() {
	}

	static void take(Chromium browser, String name) throws IOException {
		take(browser, name, WIDTH, HEIGHT);
	}

	static void take(Chromium browser, String name, int width, int height) throws IOException {
		String directory = System.getProperty("sample.screenshots");
		if (directory != null) {
			Path images = Files.createDirectories(Path.of(directory));
			browser.picture(images.resolve(name + ".png"), width, height);
		}
	}

}
