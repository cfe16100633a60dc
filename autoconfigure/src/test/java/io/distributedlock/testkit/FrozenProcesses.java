package io.distributedlock.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Operating-system processes that are stopped by a signal until this is closed. For
 * {@link StoreFaults#freeze()}; needs {@code kill} and {@code /proc} of Linux.
 */
public final class FrozenProcesses implements StoreFaults.Fault {

	private final List<Long> pids;

	private FrozenProcesses(List<Long> pids) {
		this.pids = pids;
	}

	/**
	 * Stops processes and their descendants.
	 * @param servers the processes
	 * @return the fault; closing it resumes the processes
	 */
	public static FrozenProcesses freeze(ProcessHandle... servers) {
		List<Long> pids = new ArrayList<>(Arrays.stream(servers).map(ProcessHandle::pid).toList());
		signal("-STOP", pids);
		Arrays.stream(servers).flatMap(ProcessHandle::descendants).map(ProcessHandle::pid).forEach(pids::add);
		FrozenProcesses frozen = new FrozenProcesses(pids);
		try {
			signal("-STOP", pids);
			await().until(() -> pids.stream().allMatch(FrozenProcesses::isStopped));
			return frozen;
		}
		catch (Throwable ex) {
			frozen.close();
			throw ex;
		}
	}

	private static boolean isStopped(long pid) {
		Path state = Path.of("/proc", Long.toString(pid), "stat");
		try {
			return Files.readString(state).matches("(?s).*\\) [TZ] .*");
		}
		catch (IOException ex) {
			return Files.notExists(state);
		}
	}

	private static void signal(String signal, List<Long> pids) {
		List<String> command = new ArrayList<>(List.of("kill", signal));
		pids.forEach((pid) -> command.add(Long.toString(pid)));
		try {
			Process kill = new ProcessBuilder(command).start();
			assertThat(kill.waitFor(10, TimeUnit.SECONDS)).isTrue();
			assertThat(kill.exitValue()).as(signal + " reaches every process").isZero();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public void close() {
		// The server resumes last: it would remove children that have ended meanwhile.
		List<Long> childrenFirst = new ArrayList<>(this.pids);
		Collections.reverse(childrenFirst);
		signal("-CONT", childrenFirst);
	}

}
