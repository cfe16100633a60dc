package io.distributedlock.benchmarks.run;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import org.springframework.util.FileSystemUtils;

import io.distributedlock.benchmarks.Store;
import io.distributedlock.benchmarks.contender.Library;

/**
 * The folder of everything that a run writes but its results. It is removed at the end,
 * also of a run that was interrupted.
 *
 * @param path the folder
 */
record RunFolder(Path path) implements AutoCloseable {

	private static final long SETTLE_MILLIS = 100;

	private static final Duration PATIENCE = Duration.ofSeconds(10);

	static RunFolder create(Path parent) {
		try {
			Files.createDirectories(parent);
			// Without links, because this is how the system names programs that run.
			return new RunFolder(Files.createTempDirectory(parent, "run-").toRealPath());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	Path memory() {
		return this.path.resolve("memory");
	}

	Path log(Library library) {
		return this.path.resolve(library.label() + ".log");
	}

	/** Creates a folder for a server. */
	Path newFolder(Store store) {
		try {
			return Files.createTempDirectory(this.path, store.label() + "-");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public void close() {
		long end = System.nanoTime() + PATIENCE.toNanos();
		do {
			processes().forEach(RunResources::kill);
			try {
				FileSystemUtils.deleteRecursively(this.path);
			}
			catch (IOException ex) {
				if (System.nanoTime() - end > 0) {
					throw new UncheckedIOException(ex);
				}
			}
		}
		while (!isGone());
	}

	/**
	 * Whether neither the folder nor a program of it is there: a server that was about to
	 * start runs on without the folder, or creates it anew.
	 */
	private boolean isGone() {
		try {
			Thread.sleep(SETTLE_MILLIS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		return !Files.exists(this.path) && processes().isEmpty();
	}

	/** Returns the programs of this folder that run. */
	private List<ProcessHandle> processes() {
		return ProcessHandle.allProcesses().filter(this::isOfThisFolder).toList();
	}

	private boolean isOfThisFolder(ProcessHandle process) {
		return process.info().command().filter((command) -> Path.of(command).startsWith(this.path)).isPresent();
	}

}
