package io.distributedlock.process;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;

/** The commands that a {@link LockHolderMain} obeys. */
final class Commands {

	static final String FENCED_WRITE = "UPDATE resource SET v = ?, fence = ? WHERE id = ? AND fence <= ?";

	private final PrintStream answers;

	private final LockTemplate locks;

	private final JdbcTemplate resource;

	private @Nullable LockLease lease;

	Commands(PrintStream answers, LockTemplate locks, Endpoint resource) {
		this.answers = answers;
		this.locks = locks;
		this.resource = new JdbcTemplate(
				new DriverManagerDataSource(resource.url(), resource.user(), resource.password()));
	}

	static String acquire(String key, Duration lease, Duration wait, boolean renew) {
		return "acquire " + key + " " + lease.toMillis() + " " + wait.toMillis() + " " + renew;
	}

	static String acquireForAtLeast(Duration minHold, String key, Duration lease, Duration wait) {
		return acquire(key, lease, wait, true) + " " + minHold.toMillis();
	}

	/** Obeys until the standard input ends. */
	void obey() throws IOException {
		BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		for (String line = input.readLine(); line != null; line = input.readLine()) {
			String answer;
			try {
				answer = obey(line.split(" "));
			}
			catch (RuntimeException ex) {
				answer = "failed " + ex;
			}
			this.answers.println(LockProcess.ANSWER + answer);
		}
	}

	private String obey(String[] words) {
		return switch (words[0]) {
			case "acquire" -> acquire(renewed(request(words[1], words[2], words[3]), Boolean.parseBoolean(words[4]))
				.withMinHold((words.length > 5) ? Duration.ofMillis(Long.parseLong(words[5])) : null));
			case "held" -> Boolean.toString(held().isHeld());
			case "release" -> release();
			case "write" -> "changed " + write(words[1]);
			case "clock" -> Long.toString(System.currentTimeMillis());
			case "history" -> history(request(words[1], "10000", "20000"), Integer.parseInt(words[2]));
			default -> throw new IllegalArgumentException("No command " + words[0]);
		};
	}

	private static LockRequest request(String key, String lease, String wait) {
		return LockRequest.of(LockKey.of(key))
			.withLease(Duration.ofMillis(Long.parseLong(lease)))
			.withWaitTime(Duration.ofMillis(Long.parseLong(wait)));
	}

	private static LockRequest renewed(LockRequest request, boolean renew) {
		return renew ? request : request.withoutRenewal();
	}

	private LockLease held() {
		if (this.lease == null) {
			throw new IllegalStateException("No lock was acquired");
		}
		return this.lease;
	}

	private String acquire(LockRequest request) {
		LockLease acquired = this.locks.tryAcquire(request);
		long at = System.nanoTime();
		if (acquired == null) {
			return "busy";
		}
		this.lease = acquired;
		return "acquired " + acquired.fencingToken() + " " + at;
	}

	private String release() {
		held().close();
		return "released";
	}

	private int write(String text) {
		long token = held().fencingToken().value();
		return this.resource.update(FENCED_WRITE, text, token, 1, token);
	}

	/** Holds the lock repeatedly and prints the token, begin and end of each hold. */
	private String history(LockRequest request, int holds) {
		List<String> history = new ArrayList<>(holds);
		for (int i = 0; i < holds; i++) {
			try (LockLease held = this.locks.acquire(request)) {
				long from = System.nanoTime();
				while (System.nanoTime() - from < 500_000) {
					Thread.onSpinWait();
				}
				history.add(held.fencingToken() + ":" + from + ":" + System.nanoTime());
			}
		}
		return String.join(",", history);
	}

}
