package io.distributedlock.sample.control;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A shell command that runs when this object is closed or this process has ended, even if
 * it was killed: a shell waits for the end of its input, which the operating system
 * closes with the process.
 */
final class ExitCommand implements AutoCloseable {

	private static final Path SHELL = Path.of("/bin/sh");

	private final Process shell;

	private ExitCommand(Process shell) {
		this.shell = shell;
	}

	/** Whether this system has the shell. */
	static boolean isSupported() {
		return Files.isExecutable(SHELL);
	}

	/**
	 * Runs one command now and registers another one for the end.
	 * @param now the command to run now
	 * @param atExit the command to run at the end
	 * @param arguments the arguments of both commands: {@code $1}, {@code $2}
	 * @return the registered command
	 * @throws IllegalStateException if the first command fails
	 */
	static ExitCommand register(String now, String atExit, Object... arguments) {
		// Ctrl+C signals the shell too, which has to outlive it.
		String script = "trap '' HUP INT TERM; " + now + " && echo done && cat > /dev/null && " + atExit;
		List<String> command = new ArrayList<>(List.of(SHELL.toString(), "-c", script, "exit-command"));
		for (Object argument : arguments) {
			command.add(argument.toString());
		}
		try {
			ExitCommand registered = new ExitCommand(
					new ProcessBuilder(command).redirectError(Redirect.DISCARD).start());
			registered.awaitFirstCommand(now);
			return registered;
		}
		catch (IOException ex) {
			throw new UncheckedIOException("No shell could be started", ex);
		}
	}

	private void awaitFirstCommand(String command) throws IOException {
		try (BufferedReader answer = this.shell.inputReader(StandardCharsets.UTF_8)) {
			if (answer.readLine() == null) {
				throw new IllegalStateException("'" + command + "' failed");
			}
		}
	}

	@Override
	public void close() {
		try {
			this.shell.getOutputStream().close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException("The shell has ended before", ex);
		}
	}

}
