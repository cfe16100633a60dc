package io.distributedlock.sample.control;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.jspecify.annotations.Nullable;

import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

import io.distributedlock.sample.SampleApplication;

/**
 * Directory for the temporary files of the workers, which a killed worker leaves behind.
 * It is deleted after the end of this process, even if that is killed.
 */
@Component
@Profile("!" + SampleApplication.WORKER)
class WorkerFiles implements AutoCloseable {

	private final Path directory;

	private final @Nullable ExitCommand exitCommand;

	WorkerFiles() throws IOException {
		this.directory = Files.createTempDirectory("sample-workers");
		this.exitCommand = ExitCommand.isSupported() ? ExitCommand.register("true", "rm -rf -- \"$1\"", this.directory)
				: null;
	}

	Path directory() {
		return this.directory;
	}

	@Override
	public void close() {
		if (this.exitCommand != null) {
			this.exitCommand.close();
		}
	}

}
