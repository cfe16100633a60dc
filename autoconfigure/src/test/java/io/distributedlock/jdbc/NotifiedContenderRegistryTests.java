package io.distributedlock.jdbc;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.distributedlock.jdbc.dialect.NotificationPayload;

import static org.assertj.core.api.Assertions.assertThat;

class NotifiedContenderRegistryTests {

	private final NotifiedContenderRegistry registry = new NotifiedContenderRegistry();

	@Test
	void notificationReachesTheContenderOfItsKey() {
		RecordingContender orders = new RecordingContender(0);
		RecordingContender stock = new RecordingContender(0);
		this.registry.register("orders", orders);
		this.registry.register("stock", stock);
		this.registry.notifyContender("- - - orders");
		this.registry.notifyContender("- - - unknown");
		this.registry.notifyContender("stock");
		assertThat(orders.notifications).isEqualTo(1);
		assertThat(stock.notifications).isZero();
	}

	@Test
	void earlierContenderDoesNotUnregisterALaterOne() {
		RecordingContender earlier = new RecordingContender(0);
		RecordingContender later = new RecordingContender(0);
		this.registry.register("orders", earlier);
		this.registry.register("orders", later);
		this.registry.unregister("orders", earlier);
		this.registry.listeningChanged();
		assertThat(earlier.changes).isZero();
		assertThat(later.changes).isEqualTo(1);
		this.registry.unregister("orders", later);
		assertThat(this.registry.isEmpty()).isTrue();
	}

	@Test
	void idleContendersAreUnregistered() {
		this.registry.register("idle", new RecordingContender(9));
		this.registry.register("active", new RecordingContender(10));
		this.registry.unregisterIdleSince(10);
		assertThat(this.registry.size()).isEqualTo(1);
	}

	private static final class RecordingContender implements NotifiedContender {

		private final long lastAttemptNanos;

		private int notifications;

		private int changes;

		RecordingContender(long lastAttemptNanos) {
			this.lastAttemptNanos = lastAttemptNanos;
		}

		@Override
		public void onNotification(NotificationPayload payload) {
			this.notifications++;
		}

		@Override
		public void onListeningChanged() {
			this.changes++;
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
