package io.distributedlock.sample;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;

import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

/**
 * Headless Chromium, where Debian's packages {@code chromium} and {@code chromium-driver}
 * are installed. Nothing is downloaded.
 */
final class Chromium implements AutoCloseable {

	private static final File BROWSER = new File(System.getProperty("sample.chromium", "/usr/bin/chromium"));

	private static final File DRIVER = new File(System.getProperty("sample.chromedriver", "/usr/bin/chromedriver"));

	private static final int WIDTH = 1280;

	private static final int HEIGHT = 900;

	private final ChromeDriver driver;

	Chromium(Path userData) {
		ChromeDriverService service = new ChromeDriverService.Builder().usingDriverExecutable(DRIVER)
			.usingAnyFreePort()
			.build();
		ChromeOptions options = new ChromeOptions();
		options.setBinary(BROWSER);
		options.addArguments("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
				"--disable-background-networking", "--disable-component-update", "--disable-sync",
				"--user-data-dir=" + userData, "--window-size=" + WIDTH + "," + HEIGHT);
		LoggingPreferences logs = new LoggingPreferences();
		logs.enable(LogType.BROWSER, Level.ALL);
		options.setCapability("goog:loggingPrefs", logs);
		this.driver = new ChromeDriver(service, options);
		this.driver.executeCdpCommand("Emulation.setScrollbarsHidden", Map.of("hidden", true));
		resize(WIDTH, HEIGHT);
	}

	/** Whether both packages are installed. */
	static boolean isInstalled() {
		return BROWSER.canExecute() && DRIVER.canExecute();
	}

	ChromeDriver driver() {
		return this.driver;
	}

	/** What pages have complained about since the last call. */
	List<String> complaints() {
		return this.driver.manage().logs().get(LogType.BROWSER).getAll().stream().map(LogEntry::toString).toList();
	}

	void prefer(String colorScheme) {
		this.driver.executeCdpCommand("Emulation.setEmulatedMedia",
				Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", colorScheme))));
	}

	void resize(int width, int height) {
		this.driver.executeCdpCommand("Emulation.setDeviceMetricsOverride",
				Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
	}

	/** Saves a picture of the upper part of the page. */
	void picture(Path file, int width, int height) throws IOException {
		resize(width, height);
		Map<String, Object> answer = this.driver.executeCdpCommand("Page.captureScreenshot", Map.of("format", "png"));
		Files.write(file, Base64.getDecoder().decode((String) answer.get("data")));
		resize(WIDTH, HEIGHT);
	}

	@Override
	public void close() {
		this.driver.quit();
	}

}
