package io.distributedlock.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.distributedlock.provider.AnsweredStoreCall;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.StoreCall;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

class ReservationMonitorTests {

	private static final long LATER = Duration.ofMillis(500).toNanos();

	private final LockTimer timer = new LockTimer("redis-timer");

	private final ReservationMonitor monitor = new ReservationMonitor(this.timer);

	private final List<String> steps = new CopyOnWriteArrayList<>();

	@AfterEach
	void close() {
		this.timer.close();
	}

	private Supplier<StoreCall<Boolean>> step(String name) {
		return () -> {
			this.steps.add(name);
			return AnsweredStoreCall.of(true);
		};
	}

	/** Awaits a step that is due after all others. */
	private void awaitLast() {
		this.monitor.runAfterReservation("last", 2 * LATER, step("last"));
		await().until(() -> this.steps.contains("last"));
	}

	@Test
	void stepRunsOnceAfterSeveralReservations() {
		for (int reservation = 0; reservation < 3; reservation++) {
			this.monitor.runAfterReservation("lock", 0, step("lock"));
		}
		awaitLast();
		assertThat(this.steps).containsExactly("lock", "last");
	}

	@Test
	void grantSparesTheStep() {
		this.monitor.runAfterReservation("lock", 0, step("lock"));
		this.monitor.recordGrant("lock");
		awaitLast();
		assertThat(this.steps).containsExactly("last");
	}

	@Test
	void reservationAfterTheGrantHasItsStep() {
		this.monitor.runAfterReservation("lock", 0, step("lock"));
		this.monitor.recordGrant("lock");
		this.monitor.runAfterReservation("lock", 0, step("lock"));
		awaitLast();
		assertThat(this.steps).containsExactly("lock", "last");
	}

	@Test
	void stepThatOthersRunTooMayBeLater() {
		this.monitor.runAfterReservation("crowded", LATER, step("crowded"));
		this.monitor.runAfterReservation("lock", 0, step("lock"));
		awaitLast();
		assertThat(this.steps).containsExactly("lock", "crowded", "last");
	}

	@Test
	void stepAfterALaterOneIsNotDelayed() {
		this.monitor.runAfterReservation("lock", LATER, step("lock"));
		this.monitor.runAfterReservation("lock", 0, step("lock"));
		this.monitor.runAfterReservation("crowded", LATER, step("crowded"));
		awaitLast();
		assertThat(this.steps).containsExactly("lock", "crowded", "last");
	}

}
