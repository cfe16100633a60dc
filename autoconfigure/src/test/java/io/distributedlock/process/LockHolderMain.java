package io.distributedlock.process;

import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.jdbc.TestDatabases;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.LockTimer;

/**
 * One process of several that contend for locks. Its arguments are the endpoint of the
 * locks, that of the resource which they guard, and {@link #ROW_LOCKS} for row locks.
 */
final class LockHolderMain {

	static final String ROW_LOCKS = "row-locks";

	private LockHolderMain() {
	}

	public static void main(String[] args) throws IOException {
		PrintStream answers = System.out;
		List<String> arguments = Arrays.asList(args);
		LockTimer timer = new LockTimer();
		LockSettings settings = LockSettings.defaults()
			.withWaitTime(Duration.ZERO)
			.withCallTimeout(Duration.ofSeconds(3));
		LockProvider provider = arguments.contains(ROW_LOCKS) ? Endpoint.parse(arguments).rowLocks(timer)
				: Endpoint.parse(arguments).provider(timer);
		TestDatabases.warmUp(provider);
		LockTemplate locks = new LockTemplate(provider, settings, timer, List.of(), List.of());
		new Commands(answers, locks, Endpoint.parse(arguments.subList(3, 6))).obey();
	}

}
