package io.distributedlock.sample;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The tour in a browser, whatever store keeps the locks.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@RequiresChromium
abstract class ControlRoomContract {

	private static final Duration LEASE = Duration.ofSeconds(4);

	private final String profile;

	private final String store;

	protected ControlProcess control;

	protected Chromium browser;

	protected ControlRoomPage page;

	ControlRoomContract(String profile, String store) {
		this.profile = profile;
		this.store = store;
	}

	@BeforeAll
	void open(@TempDir Path directory) throws IOException {
		this.browser = new Chromium(directory.resolve("browser"));
		// The page is open while the workers start.
		this.control = new ControlProcess(directory, Map.of("SPRING_PROFILES_ACTIVE", this.profile),
				(address) -> this.page = new ControlRoomPage(this.browser.driver(), address));
	}

	@AfterAll
	void close() {
		if (this.browser != null) {
			this.browser.close();
		}
		if (this.control != null) {
			this.control.close();
		}
	}

	@AfterEach
	void browserHasNothingToComplainAbout() {
		assertThat(this.browser.complaints()).isEmpty();
	}

	@Test
	void namesTheStore() {
		assertThat(this.page.text("store")).startsWith(this.store);
	}

	@Test
	@Tag("full")
	void withoutTheLockSeatsAreOversold() throws Exception {
		// Seats that nobody sold twice are a matter of luck, and the page says so.
		ControlRoomPage.await().atMost(Duration.ofMinutes(5)).until(() -> {
			this.page.play(1);
			return this.page.awaitVerdict(1).endsWith(" too many.");
		});
		assertThat(this.page.number("oversold")).isPositive();
		Screenshots.take(this.browser, "sample-oversold");
	}

	@Test
	void withTheLockEachSeatIsSoldOnce() {
		this.page.play(2);
		assertThat(this.page.awaitVerdict(2)).contains("each seat was sold once");
		assertThatEachSeatWasSoldOnce();
	}

	@Test
	@Tag("full")
	void killedHolderIsSucceededWithinItsLeaseByAHigherToken() {
		// On a slow machine a takeover may take longer once, but no other rule may break.
		ControlRoomPage.await().atMost(Duration.ofMinutes(5)).until(this::isSucceededInTime);
	}

	private boolean isSucceededInTime() throws Exception {
		this.page.play(3);
		if (this.page.awaitWords(3, "Dead")) {
			Screenshots.take(this.browser, "sample-killed");
		}
		if (!this.page.awaitVerdict(3).contains("took over")) {
			return false;
		}
		assertThatEachSeatWasSoldOnce();
		JsonNode takeover = this.control.get("/api/state").get("takeover");
		assertThat(token(takeover, "toToken")).isGreaterThan(token(takeover, "fromToken"));
		assertThat(takeover.get("toLane").asInt()).isNotEqualTo(takeover.get("fromLane").asInt());
		return takeover.get("afterMillis").asLong() <= LEASE.plusSeconds(2).toMillis();
	}

	@Test
	@Tag("full")
	void lateWriteOfAFrozenHolderIsRefused() {
		// On a slow machine the worker may release the lock before the signal comes.
		ControlRoomPage.await().atMost(Duration.ofMinutes(5)).until(this::freezesAHolder);
		assertThat(this.page.number("refused")).isPositive();
		assertThatEachSeatWasSoldOnce();
		assertThat(this.page.log()).anyMatch((entry) -> entry.contains("is stale: the database refused its write"));
	}

	private boolean freezesAHolder() throws Exception {
		this.page.play(4);
		if (this.page.awaitWords(4, "Frozen; another")) {
			Screenshots.take(this.browser, "sample-frozen");
		}
		return this.page.awaitVerdict(4).contains("refused");
	}

	private static long token(JsonNode takeover, String name) {
		return Long.parseLong(takeover.get(name).asString());
	}

	private void assertThatEachSeatWasSoldOnce() {
		assertThat(this.page.number("sold")).isPositive().isEqualTo(this.page.number("capacity"));
		assertThat(this.page.number("oversold")).isZero();
	}

}
