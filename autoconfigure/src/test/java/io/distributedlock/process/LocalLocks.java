package io.distributedlock.process;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.EarlyRenewals;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.jdbc.JdbcLockProvider;
import io.distributedlock.jdbc.TestDatabases;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.LockTimer;

/** The locks of the tests' own JVM, with a watch over what they send. */
final class LocalLocks implements AutoCloseable {

	private final LockTimer timer = new LockTimer();

	private final @Nullable JdbcLockProvider database;

	private final RenewalLog log;

	private final LockTemplate template;

	LocalLocks(Function<LockTimer, LockProvider> provider, double renewalFraction) {
		LockSettings settings = EarlyRenewals.after(renewalFraction,
				LockSettings.defaults().withWaitTime(Duration.ofSeconds(10)).withCallTimeout(Duration.ofSeconds(5)));
		LockProvider created = provider.apply(this.timer);
		TestDatabases.warmUp(created);
		this.database = (created instanceof JdbcLockProvider jdbc) ? jdbc : null;
		this.log = new RenewalLog(created);
		this.template = new LockTemplate(this.log, settings, this.timer, List.of(), List.of());
	}

	RenewalLog log() {
		return this.log;
	}

	LockTemplate template() {
		return this.template;
	}

	static LockRequest request(String key, Duration lease) {
		return LockRequest.of(LockKey.of(key)).withLease(lease);
	}

	/** The library's threads in this JVM. */
	static long threads() {
		Thread[] threads = new Thread[Thread.activeCount() + 100];
		int count = Thread.enumerate(threads);
		return Arrays.stream(threads, 0, count)
			.filter((thread) -> thread.getName().startsWith("distributed-lock-"))
			.count();
	}

	@Override
	public void close() {
		this.template.close();
		if (this.database != null) {
			this.database.close();
		}
		this.timer.close();
	}

}
