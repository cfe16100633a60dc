package io.distributedlock.sample;

import java.time.Duration;
import java.util.List;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.openqa.selenium.By;
import org.openqa.selenium.StaleElementReferenceException;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;

/**
 * The page of the sample, as a visitor uses it.
 */
final class ControlRoomPage {

	private static final Duration PATIENCE = Duration.ofMinutes(3);

	private static final String RUNNING = "Running …";

	private final ChromeDriver driver;

	ControlRoomPage(ChromeDriver driver, String address) {
		this.driver = driver;
		driver.get(address);
		await().until(() -> text("connection").equals("live") && !lanes().isEmpty());
	}

	static ConditionFactory await() {
		return Awaitility.await()
			.atMost(PATIENCE)
			.pollDelay(Duration.ZERO)
			.pollInterval(Duration.ofMillis(50))
			.ignoreExceptionsInstanceOf(StaleElementReferenceException.class);
	}

	/** Presses the button of a step of the tour. */
	void play(int step) {
		await().until(() -> isOn(button(step)));
		long before = answers(step);
		button(step).click();
		// A step of half a second is over before a stalled machine looks.
		await().until(() -> verdict(step).equals(RUNNING) || answers(step) > before);
	}

	/** How often the sample has answered that a step was played. */
	private long answers(int step) {
		return (Long) this.driver.executeScript(
				"return performance.getEntriesByName(location.origin + '/api/tour/' + arguments[0]).length;", step);
	}

	/** Waits until a step has been played, and returns what was to be seen. */
	String awaitVerdict(int step) {
		return await().until(() -> verdict(step), (verdict) -> !verdict.isEmpty() && !verdict.equals(RUNNING));
	}

	/**
	 * Waits until a worker's words begin so while a step is played.
	 * @return {@code false} if the step has ended before
	 */
	boolean awaitWords(int step, String beginning) {
		await().until(() -> hasWords(beginning) || !verdict(step).equals(RUNNING));
		return hasWords(beginning);
	}

	private boolean hasWords(String beginning) {
		return words().stream().anyMatch((words) -> words.startsWith(beginning));
	}

	private WebElement button(int step) {
		return this.driver.findElement(By.cssSelector("[data-step='" + step + "']"));
	}

	private String verdict(int step) {
		return this.driver.findElement(By.cssSelector("#step-" + step + " .verdict")).getText();
	}

	private static boolean isOn(WebElement button) {
		return !"true".equals(button.getDomAttribute("aria-disabled"));
	}

	int number(String id) {
		return Integer.parseInt(text(id));
	}

	String text(String id) {
		return this.driver.findElement(By.id(id)).getText();
	}

	List<WebElement> lanes() {
		return this.driver.findElements(By.cssSelector(".lane"));
	}

	/** The words of all lanes. */
	List<String> words() {
		return texts(".lane .words");
	}

	List<String> log() {
		return texts("#log li");
	}

	private List<String> texts(String selector) {
		return this.driver.findElements(By.cssSelector(selector)).stream().map(WebElement::getText).toList();
	}

	/** Presses a button of a lane, from 0. */
	void press(int lane, String act) {
		lanes().get(lane).findElement(By.className(act)).click();
	}

	ChromeDriver driver() {
		return this.driver;
	}

}
