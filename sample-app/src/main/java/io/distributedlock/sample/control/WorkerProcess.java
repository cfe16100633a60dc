package io.distributedlock.sample.control;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.distributedlock.sample.SellCommand;

/**
 * A running worker. Commands go to its standard input; whether it lives is the operating
 * system's word, and what it did stands in the database.
 */
class WorkerProcess {

	private static final Log logger = LogFactory.getLog(WorkerProcess.class);

	private final Process process;

	private final BufferedWriter commands;

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
