package io.distributedlock.sample;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;
import org.openqa.selenium.interactions.Actions;

import org.springframework.core.io.ClassPathResource;

import static org.assertj.core.api.Assertions.assertThat;

/** The tour with locks in a database, and what makes the page fit for everyone. */
class ControlRoomTests extends ControlRoomContract {

	private static final String AXE = "/axe.min.js";

	private static final int PICTURE_HEIGHT = 1800;

	ControlRoomTests() {
		super("", "H2");
	}

	@ParameterizedTest
	@Tag("full")
	@CsvSource({ "light, 1280, 900", "dark, 1280, 900", "light, 390, 844", "dark, 390, 844" })
	void breaksNoRuleOfAccessibility(String colorScheme, int width, int height) throws IOException {
		this.browser.prefer(colorScheme);
		this.browser.resize(width, height);
		assertThat(violations()).isEmpty();
		assertThat(scrollsSideways()).isFalse();
		if (colorScheme.equals("dark")) {
			Screenshots.take(this.browser, (width > height) ? "sample-dark" : "sample-phone", width, PICTURE_HEIGHT);
		}
		this.browser.prefer("light");
		this.browser.resize(1280, 900);
	}

	@SuppressWarnings("unchecked")
	private List<String> violations() throws IOException {
		this.browser.driver().executeScript(axe());
		return (List<String>) this.browser.driver().executeAsyncScript("""
				const done = arguments[arguments.length - 1];
				axe.run({ resultTypes: ["violations"] }).then((results) => done(results.violations.map((violation) =>
					violation.help + ": " + violation.nodes.slice(0, 3).map((node) => node.html).join(", "))));
				""");
	}

	private static String axe() throws IOException {
		return new ClassPathResource(AXE).getContentAsString(StandardCharsets.UTF_8);
	}

	private boolean scrollsSideways() {
		return (Boolean) this.browser.driver()
			.executeScript("return document.documentElement.scrollWidth > document.documentElement.clientWidth");
	}

	@Test
	@Tag("full")
	void keyboardReachesControlsInTheOrderOfThePage() {
		this.browser.driver().executeScript("document.activeElement.blur(); window.scrollTo(0, 0);");
		List<Long> positions = new ArrayList<>();
		pressTab();
		long position = focused();
		while (position >= 0 && !positions.contains(position)) {
			positions.add(position);
			pressTab();
			position = focused();
		}
		assertThat(positions).hasSizeGreaterThan(20).isSorted();
	}

	private void pressTab() {
		new Actions(this.browser.driver()).sendKeys(Keys.TAB).perform();
	}

	/** The place of the focused element in the document, -1 if none is. */
	private long focused() {
		return (Long) this.browser.driver().executeScript("""
				const element = document.activeElement;
				return element === document.body ? -1 : [...document.querySelectorAll("*")].indexOf(element);
				""");
	}

	@Test
	void loadsNothingFromElsewhere() {
		Object origins = this.browser.driver()
			.executeScript(
					"""
							return [...new Set(performance.getEntriesByType("resource").map((entry) => new URL(entry.name).origin))];
							""");
		assertThat(origins).asInstanceOf(InstanceOfAssertFactories.LIST).containsExactly(this.control.address());
	}

	@Test
	@Tag("full")
	void restartsAKilledWorker() {
		String before = this.page.lanes().get(1).findElement(By.className("pid")).getText();
		this.page.press(1, "kill");
		ControlRoomPage.await().until(() -> this.page.words().get(1).startsWith("Dead"));
		this.page.press(1, "restart");
		ControlRoomPage.await().until(() -> !this.page.words().get(1).startsWith("Dead"));
		assertThat(this.page.lanes().get(1).findElement(By.className("pid")).getText()).isNotEqualTo(before);
	}

	@Test
	void gathersTheFiguresOfAllWorkers() {
		ControlRoomPage.await()
			.until(() -> this.browser.driver()
				.findElements(By.cssSelector("#figures a[href$='/prometheus']"))
				.size() == 3);
	}

}
