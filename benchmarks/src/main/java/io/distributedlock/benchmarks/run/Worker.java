package io.distributedlock.benchmarks.run;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import io.distributedlock.benchmarks.run.Messages.Reply;
import io.distributedlock.benchmarks.scenario.Answer;
import io.distributedlock.benchmarks.scenario.Task;

/**
 * A JVM of a contender, seen from the run.
 */
final class Worker implements AutoCloseable {

	private static final long CLOSE_SECONDS = 10;

	private static final Reply ENDED = new Reply(null, "The JVM has ended");

	private final Process process;

	private final Writer tasks;

	private final BlockingQueue<Reply> replies = new LinkedBlockingQueue<>();

	/** Scenarios whose code this JVM has compiled. */
	private final Set<String> scenarios = new HashSet<>();

	Worker(Process process) {
		this.process = process;
		this.tasks = process.outputWriter(StandardCharsets.UTF_8);
		Thread reader = new Thread(this::read, "replies-of-" + process.pid());
		reader.setDaemon(true);
		reader.start();
	}

	private void read() {
		try (BufferedReader output = this.process.inputReader(StandardCharsets.UTF_8)) {
			for (String line = output.readLine(); line != null; line = output.readLine()) {
				if (line.startsWith(Messages.REPLY)) {
					this.replies.add(Messages.readReply(line));
				}
			}
		}
		catch (IOException ex) {
			// The pipe ends with the JVM.
		}
		finally {
			this.replies.add(ENDED);
		}
	}

	boolean knows(String scenario) {
		return this.scenarios.contains(scenario);
	}

	void begin(Task task) {
		try {
			this.tasks.write(Messages.write(task) + "\n");
			this.tasks.flush();
		}
		catch (IOException ex) {
			throw new UncheckedIOException("The JVM has ended", ex);
		}
	}

	/**
	 * Waits for the end of the task.
	 * @param task the task
	 * @param limit how long to wait
	 * @return the answer
	 * @throws WorkerException if the task has failed, or goes on for longer
	 */
	Answer end(Task task, Duration limit) {
		Reply reply = poll(limit);
		if (reply == null) {
			throw new WorkerException("The task did not end within " + limit.toSeconds() + " s");
		}
		Answer answer = reply.answer();
		if (answer == null) {
			throw new WorkerException(String.valueOf(reply.failure()));
		}
		this.scenarios.add(task.scenario());
		return answer;
	}

	private @Nullable Reply poll(Duration limit) {
		try {
			return this.replies.poll(limit.toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	/** Ends the JVM whatever it does, and waits until it has ended. */
	void kill() {
		RunResources.kill(this.process.toHandle());
	}

	/** Asks the JVM to end. */
	void beginClose() {
		try {
			this.tasks.close();
		}
		catch (IOException ex) {
			// It has ended already.
		}
	}

	@Override
	public void close() {
		beginClose();
		try {
			if (!this.process.waitFor(CLOSE_SECONDS, TimeUnit.SECONDS)) {
				kill();
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			kill();
		}
	}

}
