package io.distributedlock.sample.control;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Process of a worker, as the operating system sees it. Lines are written to its standard
 * input and read from its standard output.
 */
class WorkerProcess {

	private static final Log logger = LogFactory.getLog(WorkerProcess.class);

	private static final Duration KILL_TIMEOUT = Duration.ofSeconds(5);

	private static final Duration OUTPUT_TIMEOUT = Duration.ofSeconds(5);

	private final Process process;

	private final BufferedWriter input;

	private final ReentrantLock freezing = new ReentrantLock();

	private @Nullable ExitCommand thaw;

	private @Nullable Thread reader;

	WorkerProcess(Process process) {
		this.process = process;
		this.input = process.outputWriter(StandardCharsets.UTF_8);
	}

	/** Whether this system can stop and continue a process by a signal. */
	static boolean canFreeze() {
		return ExitCommand.isSupported();
	}

	long pid() {
		return this.process.pid();
	}

	boolean isAlive() {
		return this.process.isAlive();
	}

	int exitValue() {
		return this.process.exitValue();
	}

	/** Passes each line of output on, by a thread that ends with the process. */
	void readOutput(Consumer<String> lines) {
		Thread lineReader = new Thread(() -> {
			try (BufferedReader output = this.process.inputReader(StandardCharsets.UTF_8)) {
				output.lines().forEach(lines);
			}
			catch (IOException ex) {
				logger.debug("The output of worker " + pid() + " has ended", ex);
			}
		}, "worker-" + pid());
		lineReader.setDaemon(true);
		lineReader.start();
		this.reader = lineReader;
	}

	/** Waits until all output of a process that has ended was passed on. */
	void awaitOutput() {
		try {
			if (this.reader != null) {
				this.reader.join(OUTPUT_TIMEOUT.toMillis());
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	boolean isFrozen() {
		this.freezing.lock();
		try {
			return this.thaw != null;
		}
		finally {
			this.freezing.unlock();
		}
	}

	/**
	 * Stops the process with SIGSTOP. It continues when it is thawed, or when the control
	 * process has ended: then it ends itself.
	 * @return {@code false} if it is frozen already
	 */
	boolean freeze() {
		this.freezing.lock();
		try {
			if (this.thaw != null) {
				return false;
			}
			this.thaw = ExitCommand.register("kill -STOP \"$1\"", "kill -CONT \"$1\"", pid());
			return true;
		}
		finally {
			this.freezing.unlock();
		}
	}

	/**
	 * Continues a frozen process.
	 * @return {@code false} if it was not frozen
	 */
	boolean thaw() {
		this.freezing.lock();
		try {
			if (this.thaw == null) {
				return false;
			}
			this.thaw.close();
			this.thaw = null;
			return true;
		}
		finally {
			this.freezing.unlock();
		}
	}

	/** Kills the process, frozen or not, so that it cannot release its lock. */
	void kill() {
		this.process.destroyForcibly();
		awaitEnd(KILL_TIMEOUT);
		thaw();
	}

	void send(String line) {
		try {
			this.input.write(line);
			this.input.newLine();
			this.input.flush();
		}
		catch (IOException ex) {
			logger.debug("Worker " + pid() + " does not read commands any more", ex);
		}
	}

	/** Closes the standard input of the worker, which ends when it reads that. */
	void stop() {
		thaw();
		try {
			this.input.close();
		}
		catch (IOException ex) {
			logger.debug("Worker " + pid() + " had ended before", ex);
		}
	}

	/** Waits for the end of the process, and kills it after the timeout. */
	void awaitEnd(Duration timeout) {
		try {
			if (!this.process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
				this.process.destroyForcibly();
			}
		}
		catch (InterruptedException ex) {
			this.process.destroyForcibly();
			Thread.currentThread().interrupt();
		}
	}

}
