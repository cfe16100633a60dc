package io.distributedlock.process;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A JVM of its own, which obeys lines on its standard input and ends with it. Its answers
 * are the lines that begin with {@link #ANSWER}; the others are its console.
 */
public final class LockProcess implements AutoCloseable {

	public static final String ANSWER = "> ";

	/** An application needs seconds of a processor to start. */
	private static final Duration PATIENCE = Duration.ofSeconds(90);

	private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();

	private final Queue<String> console = new ConcurrentLinkedQueue<>();

	private final Process process;

	private final Writer input;

	private LockProcess(Process process) {
		this.process = process;
		this.input = process.outputWriter(StandardCharsets.UTF_8);
		Thread reader = new Thread(this::read, "reader-of-" + process.pid());
		reader.setDaemon(true);
		reader.start();
	}

	static LockProcess start(Class<?> main, List<String> arguments) {
		return start(main, Map.of(), arguments);
	}

	static LockProcess start(Class<?> main, Map<String, String> environment, List<String> arguments) {
		return start(main, System.getProperty("java.class.path"), environment, arguments);
	}

	/** Starts a main class with another class path than that of this JVM. */
	public static LockProcess start(Class<?> main, String classPath, List<String> arguments) {
		return start(main, classPath, Map.of(), arguments);
	}

	private static LockProcess start(Class<?> main, String classPath, Map<String, String> environment,
			List<String> arguments) {
		List<String> command = new ArrayList<>(
				List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:TieredStopAtLevel=1",
						"-XX:+UseSerialGC", "-Xmx768m", "-cp", classPath, main.getName()));
		command.addAll(arguments);
		ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true).redirectInput(Redirect.PIPE);
		builder.environment().putAll(environment);
		try {
			return new LockProcess(builder.start());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private void read() {
		try (BufferedReader output = this.process.inputReader(StandardCharsets.UTF_8)) {
			for (String line = output.readLine(); line != null; line = output.readLine()) {
				if (line.startsWith(ANSWER)) {
					this.answers.add(line.substring(ANSWER.length()));
				}
				else if (this.console.size() < 500) {
					this.console.add(line);
				}
			}
		}
		catch (IOException ex) {
			this.console.add(ex.toString());
		}
	}

	public void send(String command) {
		try {
			this.input.write(command + "\n");
			this.input.flush();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	public String answer() {
		return answer(PATIENCE);
	}

	public String answer(Duration patience) {
		try {
			String answer = this.answers.poll(patience.toSeconds(), TimeUnit.SECONDS);
			assertThat(answer).as("an answer; the console is %s", this.console).isNotNull();
			return answer;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	/** Returns an answer that has come and was not read yet. */
	@Nullable String pendingAnswer() {
		return this.answers.peek();
	}

	public String ask(String command) {
		send(command);
		return answer();
	}

	/** Asks for a lock that is free. */
	Acquired acquire(String key, Duration lease, Duration wait, boolean renew) {
		return Acquired.parse(ask(Commands.acquire(key, lease, wait, renew)));
	}

	public ProcessHandle handle() {
		return this.process.toHandle();
	}

	void stop() {
		signal("-STOP");
	}

	void resume() {
		signal("-CONT");
	}

	public void kill() {
		signal("-9");
	}

	private void signal(String signal) {
		try {
			Process kill = new ProcessBuilder("kill", signal, Long.toString(this.process.pid())).start();
			assertThat(kill.waitFor(10, TimeUnit.SECONDS)).isTrue();
			assertThat(kill.exitValue()).isZero();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/** The exit value, once the process has ended by itself. */
	public int awaitEnd(Duration timeout) throws InterruptedException {
		assertThat(this.process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS))
			.as("the process ends; its console is %s", this.console)
			.isTrue();
		return this.process.exitValue();
	}

	@Override
	public String toString() {
		return this.answers + " on " + this.console;
	}

	@Override
	public void close() {
		this.process.destroyForcibly();
		boolean interrupted = Thread.interrupted();
		try {
			this.process.waitFor(10, TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			interrupted = true;
		}
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
	}

	/**
	 * A lock that a process has got.
	 *
	 * @param token its fencing token
	 * @param at when it was got, by {@link System#nanoTime()}, which the JVMs of a Linux
	 * machine share
	 */
	record Acquired(long token, long at) {

		static Acquired parse(String answer) {
			assertThat(answer).matches("acquired \\d+ \\d+");
			String[] words = answer.split(" ");
			return new Acquired(Long.parseLong(words[1]), Long.parseLong(words[2]));
		}

	}

}
