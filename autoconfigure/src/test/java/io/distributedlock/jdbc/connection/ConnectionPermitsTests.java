package io.distributedlock.jdbc.connection;

import java.time.Duration;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@ExtendWith(OutputCaptureExtension.class)
class ConnectionPermitsTests {

	@AfterEach
	void clearInterrupt() {
		Thread.interrupted();
	}

	private static int acquireAll(ConnectionPermits permits, CallKind kind) throws InterruptedException {
		int acquired = 0;
		while (permits.tryAcquire(kind, Deadline.now())) {
			acquired++;
		}
		return acquired;
	}

	@Test
	void oneConnectionIsWarnedOf(CapturedOutput output) {
		ConnectionPermits.of(2, "the property");
		assertThat(output).doesNotContain("DL-626");
		ConnectionPermits.of(1, "the property");
		assertThat(output.toString().lines()).singleElement()
			.asString()
			.contains(" WARN ")
			.endsWith("DL-626: Locks use one connection of the database at a time, so that a renewal waits for every"
					+ " attempt, and for one that hangs as long as the call time-out. Give them at least 2, which keeps a"
					+ " connection for renewals; 3 keep one for releases, too. Their number is the property");
	}

	@Test
	void acquiresLeaveConnectionsToReleasesAndRenewals() throws InterruptedException {
		ConnectionPermits permits = new ConnectionPermits(4);
		assertThat(acquireAll(permits, CallKind.ACQUIRE)).isEqualTo(2);
		assertThat(acquireAll(permits, CallKind.RELEASE)).isEqualTo(1);
		assertThat(acquireAll(permits, CallKind.RENEWAL)).isEqualTo(1);
	}

	@Test
	void renewalsMayUseAllConnections() throws InterruptedException {
		ConnectionPermits permits = new ConnectionPermits(4);
		assertThat(acquireAll(permits, CallKind.RENEWAL)).isEqualTo(4);
		assertThat(acquireAll(permits, CallKind.ACQUIRE)).isZero();
	}

	@Test
	void poolOfOneServesEachKindInTurn() throws InterruptedException {
		ConnectionPermits permits = new ConnectionPermits(1);
		for (CallKind kind : CallKind.values()) {
			assertThat(acquireAll(permits, kind)).as("permits for %s", kind).isEqualTo(1);
			permits.release(kind);
		}
	}

	@Test
	void failedAcquireKeepsNoPermit() throws InterruptedException {
		ConnectionPermits permits = new ConnectionPermits(4);
		acquireAll(permits, CallKind.RENEWAL);
		assertThat(permits.tryAcquire(CallKind.ACQUIRE, Deadline.after(Duration.ofMillis(1)))).isFalse();
		for (int i = 0; i < 4; i++) {
			permits.release(CallKind.RENEWAL);
		}
		assertThat(acquireAll(permits, CallKind.ACQUIRE)).isEqualTo(2);
	}

	@Test
	void interruptEndsTheWaitOfAnAcquire() throws InterruptedException {
		ConnectionPermits permits = new ConnectionPermits(1);
		acquireAll(permits, CallKind.RENEWAL);
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(InterruptedException.class)
			.isThrownBy(() -> permits.tryAcquire(CallKind.ACQUIRE, Deadline.after(Duration.ofSeconds(30))));
	}

	@Test
	void interruptOfARenewalStaysSet() throws InterruptedException {
		ConnectionPermits permits = new ConnectionPermits(1);
		Thread.currentThread().interrupt();
		assertThat(permits.tryAcquire(CallKind.RENEWAL, Deadline.after(Duration.ofSeconds(30)))).isTrue();
		assertThat(Thread.currentThread().isInterrupted()).isTrue();
	}

}
