package io.distributedlock.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.distributedlock.provider.AnsweredStoreCall;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.StoreCall;

import static org.awaitility.Awaitility.await;

class ReservationMonitorTests {

	private static final long LATER = Duration.ofMillis(500).toNanos();

	private final LockTimer timer = new LockTimer("redis-timer");

	private List<String> steps = List.of();

	@AfterEach
	void close() {
		this.timer.close();
	}

	private Supplier<StoreCall<Boolean>> step(String name) {
		List<String> present = this.steps;
		return () -> {
			present.add(name);
			return AnsweredStoreCall.of(true);
		};
	}

	/** Repeats what took longer than the reservations, as on a machine that stalls. */
	private void assertSteps(Consumer<ReservationMonitor> reservations, String... expected) {
		await().atMost(Duration.ofMinutes(1)).until(() -> steps(reservations), List.of(expected)::equals);
	}

	private List<String> steps(Consumer<ReservationMonitor> reservations) throws InterruptedException {
		this.steps = new CopyOnWriteArrayList<>();
		CountDownLatch last = new CountDownLatch(1);
		ReservationMonitor monitor = new ReservationMonitor(this.timer);
		reservations.accept(monitor);
		// Due after all others; a step that is too late is not run at all.
		monitor.runAfterReservation("last", 2 * LATER, () -> {
			last.countDown();
			return AnsweredStoreCall.of(true);
		});
		return last.await(5, TimeUnit.SECONDS) ? List.copyOf(this.steps) : List.of("too late");
	}

	@Test
	void stepRunsOnceAfterSeveralReservations() {
		assertSteps((monitor) -> {
			for (int reservation = 0; reservation < 3; reservation++) {
				monitor.runAfterReservation("lock", 0, step("lock"));
			}
		}, "lock");
	}

	@Test
	void grantSparesTheStep() {
		assertSteps((monitor) -> {
			monitor.runAfterReservation("lock", 0, step("lock"));
			monitor.recordGrant("lock");
		});
	}

	@Test
	void reservationAfterTheGrantHasItsStep() {
		assertSteps((monitor) -> {
			monitor.runAfterReservation("lock", 0, step("lock"));
			monitor.recordGrant("lock");
			monitor.runAfterReservation("lock", 0, step("lock"));
		}, "lock");
	}

	@Test
	void stepThatOthersRunTooMayBeLater() {
		assertSteps((monitor) -> {
			monitor.runAfterReservation("crowded", LATER, step("crowded"));
			monitor.runAfterReservation("lock", 0, step("lock"));
		}, "lock", "crowded");
	}

	@Test
	void stepAfterALaterOneIsNotDelayed() {
		assertSteps((monitor) -> {
			monitor.runAfterReservation("lock", LATER, step("lock"));
			monitor.runAfterReservation("lock", 0, step("lock"));
			monitor.runAfterReservation("crowded", LATER, step("crowded"));
		}, "lock", "crowded");
	}

}
