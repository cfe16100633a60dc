package io.distributedlock.jdbc;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.distributedlock.jdbc.connection.ConnectionSource;
import io.distributedlock.jdbc.connection.SqlCallExecutor;
import io.distributedlock.jdbc.dialect.NotificationPayload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

/** Contenders that the listener knows. */
class NotificationListenerTests {

	/** The payload of a release without a wait queue, but for the key. */
	private static final String NOBODY = "%1$s %1$s 0 ".formatted(".".repeat(32));

	private final NotificationListener listener = new NotificationListener(mock(ConnectionSource.class),
			mock(SqlCallExecutor.class));

	@AfterEach
	void close() {
		this.listener.close();
	}

	@Test
	void notificationReachesTheContenderOfItsKey() {
		RecordingContender orders = new RecordingContender(0);
		RecordingContender stock = new RecordingContender(0);
		this.listener.register("orders", orders);
		this.listener.register("stock", stock);
		this.listener.forward(NOBODY + "orders");
		this.listener.forward(NOBODY + "unknown");
		this.listener.forward("stock");
		assertThat(orders.notifications).isEqualTo(1);
		assertThat(stock.notifications).isZero();
	}

	@Test
	void earlierContenderDoesNotUnregisterALaterOne() {
		RecordingContender earlier = new RecordingContender(0);
		RecordingContender later = new RecordingContender(0);
		this.listener.register("orders", earlier);
		this.listener.register("orders", later);
		this.listener.unregister("orders", earlier);
		this.listener.forward(NOBODY + "orders");
		assertThat(earlier.notifications).isZero();
		assertThat(later.notifications).isEqualTo(1);
		this.listener.unregister("orders", later);
		assertThat(this.listener.contenders()).isZero();
	}

	@Test
	void idleContendersAreUnregistered() {
		this.listener.register("idle", new RecordingContender(9));
		this.listener.register("active", new RecordingContender(10));
		this.listener.unregisterIdleSince(10);
		assertThat(this.listener.contenders()).isEqualTo(1);
	}

	private static final class RecordingContender implements NotifiedContender {

		private final long lastAttemptNanos;

		private int notifications;

		RecordingContender(long lastAttemptNanos) {
			this.lastAttemptNanos = lastAttemptNanos;
		}

		@Override
		public String id() {
			return NOBODY;
		}

		@Override
		public void onNotification(NotificationPayload payload) {
			this.notifications++;
		}

		@Override
		public void onListeningChanged() {
			// Nothing depends on it here.
		}

		@Override
		public @Nullable Long sinceMicros() {
			return null;
		}

		@Override
		public boolean hasAttemptedSince(long nanos) {
			return this.lastAttemptNanos >= nanos;
		}

	}

}
