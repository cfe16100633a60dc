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
 * A running worker. Commands go to its standard input; whether it lives is the operating
 * system's word, and what it did stands in the database.
 */
class WorkerProcess {

	private static final Log logger = LogFactory.getLog(WorkerProcess.class);

	private static final Duration KILLED_WITHIN = Duration.ofSeconds(5);

	private final Process process;

	private final BufferedWriter commands;

	private final ReentrantLock freezing = new ReentrantLock();

	private @Nullable LastWill thaw;

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
	 * Stops the process where it stands. It goes on when it is thawed, or when the
	 * control process has ended: then to end itself.
	 * @return {@code false} if it is frozen already
	 */
	boolean freeze() {
		this.freezing.lock();
		try {
			if (this.thaw != null) {
				return false;
			}
			this.thaw = LastWill.write("kill -STOP \"$1\"", "kill -CONT \"$1\"", pid());
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

	/** Ends the process at once, frozen or not: it can release nothing. */
	void kill() {
		this.process.destroyForcibly();
		awaitEnd(KILLED_WITHIN);
		thaw();
	}

	void send(SellCommand command) {
		try {
			this.commands.write(command.toLine());
			this.commands.newLine();
			this.commands.flush();
		}
		catch (IOException ex) {
			logger.warn("Worker " + pid() + " takes no commands any more", ex);
		}
	}

	/** Asks the worker to leave; it does so when it reads the end of its commands. */
	void dismiss() {
		try {
			this.commands.close();
		}
		catch (IOException ex) {
			logger.debug("Worker " + pid() + " had left before", ex);
		}
	}

	/** Waits for the dismissed worker to leave, and ends it if it does not. */
	void awaitEnd(Duration patience) {
		try {
			if (!this.process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS)) {
				this.process.destroyForcibly();
			}
		}
		catch (InterruptedException ex) {
			this.process.destroyForcibly();
			Thread.currentThread().interrupt();
		}
	}

}
