package io.distributedlock.sample.control;

import java.time.Duration;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

import io.distributedlock.sample.SaleSettings;
import io.distributedlock.sample.SampleApplication;
import io.distributedlock.sample.SampleProperties;

/**
 * Settings of a sale for which nothing else is asked: those of the configuration.
 */
@Component
@Profile("!" + SampleApplication.WORKER)
class SaleDefaults {

	private final Duration lease;

	private final Duration thinkTime;

	private final int seats;

	SaleDefaults(@Value("${distributed-lock.lease}") Duration lease, SampleProperties properties) {
		this.lease = lease;
		this.thinkTime = properties.thinkTime();
		this.seats = properties.capacity();
	}

	Duration lease() {
		return this.lease;
	}

	Duration thinkTime() {
		return this.thinkTime;
	}

	int seats() {
		return this.seats;
	}

	SaleSettings settings(boolean lock) {
		return settings(lock, this.thinkTime, this.seats);
	}

	SaleSettings settings(boolean lock, Duration thinkTime, int seats) {
		return new SaleSettings(lock, true, true, this.lease, thinkTime, seats);
	}

}
