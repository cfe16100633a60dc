package io.distributedlock.sample.control;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.sample.SellCommand;

/**
 * Process of a worker. Commands are written to its standard input; its results are in the
 * database.
 */
class WorkerProcess {

	private static final Log logger = LogFactory.getLog(WorkerProcess.class);

	private static final Duration KILL_TIMEOUT = Duration.ofSeconds(5);

	private final Process process;

	private final BufferedWriter commands;

	private final ReentrantLock freezing = new ReentrantLock();

	private @Nullable ExitCommand thaw;

	WorkerProcess(Process process) {
		this.process = process;
		this.commands = process.outputWriter(StandardCharsets.UTF_8);
	}

	long pid() {
		return this.process.pid();
	}

	boolean isAlive() {
		return this.process.isAlive();
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

	void thaw() {
		this.freezing.lock();
		try {
			if (this.thaw != null) {
				this.thaw.close();
				this.thaw = null;
			}
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

	void send(SellCommand command) {
		try {
			this.commands.write(command.toLine());
			this.commands.newLine();
			this.commands.flush();
		}
		catch (IOException ex) {
			logger.warn("Worker " + pid() + " does not read commands any more", ex);
		}
	}

	/** Closes the standard input of the worker, which ends when it reads that. */
	void stop() {
		try {
			this.commands.close();
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
