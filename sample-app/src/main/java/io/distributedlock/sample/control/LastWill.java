package io.distributedlock.sample.control;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A shell command that is carried out when this is closed or this process has ended,
 * however it ended: a shell waits for the end of its input, which the operating system
 * brings about.
 */
final class LastWill implements AutoCloseable {

	private final Process shell;

	private LastWill(Process shell) {
		this.shell = shell;
	}

	/**
	 * Carries out the one command now and the other one at the end.
	 * @param now the command to begin with; if it fails, so does this
	 * @param atTheEnd the command for the end
	 * @param arguments what the commands find as {@code $1}, {@code $2}
	 */
	static LastWill write(String now, String atTheEnd, Object... arguments) {
		// Ctrl+C reaches the shell as well, and must not keep it from its duty.
		String script = "trap '' HUP INT TERM; " + now + " && echo done && cat > /dev/null && " + atTheEnd;
		List<String> command = new ArrayList<>(List.of("/bin/sh", "-c", script, "last-will"));
		for (Object argument : arguments) {
			command.add(argument.toString());
		}
		try {
			LastWill will = new LastWill(new ProcessBuilder(command).redirectError(Redirect.DISCARD).start());
			will.awaitBeginning(now);
			return will;
		}
		catch (IOException ex) {
			throw new UncheckedIOException("No shell could be started", ex);
		}
	}

	private void awaitBeginning(String command) throws IOException {
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
			throw new UncheckedIOException("The shell has gone before", ex);
		}
	}

}
