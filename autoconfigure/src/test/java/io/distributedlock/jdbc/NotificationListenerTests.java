package io.distributedlock.jdbc;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.distributedlock.jdbc.connection.LockDataSource;
import io.distributedlock.jdbc.connection.SqlCallExecutor;
import io.distributedlock.jdbc.dialect.NotificationPayload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.then;
import static org.mockito.Mockito.mock;

/** Contenders that the listener knows. */
class NotificationListenerTests {

	private final NotificationListener listener = new NotificationListener(mock(LockDataSource.class),
			mock(SqlCallExecutor.class));

	private final JdbcContender first = mock(JdbcContender.class);

	private final JdbcContender second = mock(JdbcContender.class);

	@AfterEach
	void close() {
		this.listener.close();
	}

	@Test
	void notificationReachesTheContenderOfItsKey() {
		this.listener.register("orders", this.first);
		this.listener.register("stock", this.second);
		this.listener.forward("- - - orders");
		this.listener.forward("- - - unknown");
		this.listener.forward("stock");
		then(this.first).should().onNotification(any());
		then(this.second).shouldHaveNoInteractions();
	}

	@Test
	void earlierContenderDoesNotUnregisterALaterOne() {
		this.listener.register("orders", this.first);
		this.listener.register("orders", this.second);
		this.listener.unregister("orders", this.first);
		this.listener.forward("- - - orders");
		then(this.first).shouldHaveNoInteractions();
		then(this.second).should().onNotification(any());
		this.listener.unregister("orders", this.second);
		assertThat(this.listener.contenders()).isZero();
	}

	@Test
	void idleContendersAreUnregistered() {
		given(this.second.hasAttemptedSince(10)).willReturn(true);
		this.listener.register("idle", this.first);
		this.listener.register("active", this.second);
		this.listener.unregisterIdleSince(10);
		assertThat(this.listener.contenders()).isEqualTo(1);
	}

}
