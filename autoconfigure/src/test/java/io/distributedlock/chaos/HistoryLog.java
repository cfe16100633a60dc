package io.distributedlock.chaos;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The file to which a process appends its events. Each event is one write to the system,
 * so that it outlives a kill of the process. Safe for use by many threads: the system
 * appends each write as a whole.
 */
final class HistoryLog implements AutoCloseable {

	private final FileOutputStream file;

	HistoryLog(Path file) throws IOException {
		this.file = new FileOutputStream(file.toFile(), true);
	}

	void add(HistoryEvent event) {
		try {
			this.file.write((event.toJson() + "\n").getBytes(StandardCharsets.UTF_8));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Reads events; a kill may have left a last line that is not whole. */
	static List<HistoryEvent> read(Path file) throws IOException {
		String text = Files.readString(file);
		return text.substring(0, text.lastIndexOf('\n') + 1).lines().map(HistoryEvent::parse).toList();
	}

	@Override
	public void close() throws IOException {
		this.file.close();
	}

}
