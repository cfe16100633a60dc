package io.distributedlock.autoconfigure;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import org.springframework.context.ApplicationEventPublisher;

import io.distributedlock.LockBusyEvent;
import io.distributedlock.LockHolder;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockListener;
import io.distributedlock.LockLostEvent;
import io.distributedlock.LockMode;
import io.distributedlock.LossReason;

/**
 * Listener that publishes losses and busy locks of one provider as application events.
 *
 * @param provider the name of the provider
 * @param publisher the publisher of the events
 */
record LockApplicationEvents(String provider, ApplicationEventPublisher publisher) implements LockListener {

	@Override
	public void onBusy(LockKey key, LockMode mode, Duration waited, @Nullable LockHolder holder) {
		this.publisher.publishEvent(new LockBusyEvent(this.provider, key, mode, waited, holder));
	}

	@Override
	public void onLost(LockLease lease, LossReason reason) {
		this.publisher.publishEvent(new LockLostEvent(this.provider, lease, reason));
	}

}
