package io.distributedlock.chaos;

import java.io.IOException;
import java.nio.file.Path;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/** The register admits what a fenced resource has to admit, and its twin everything. */
class FencedRegisterTests {

	@TempDir
	private Path folder;

	private HistoryLog log;

	private FencedRegister register;

	private FencedRegister.Connection connection;

	@BeforeEach
	void open() throws IOException {
		this.log = new HistoryLog(this.folder.resolve("history"));
		this.register = new FencedRegister(this.log);
		this.connection = new FencedRegister.Connection(this.register.port());
	}

	@AfterEach
	void close() throws IOException {
		this.connection.close();
		this.register.close();
		this.log.close();
	}

	@Test
	void higherTokenIsAcceptedAndLowerOneRefused() {
		assertThat(this.connection.write("key", 10, "a", "a#1")).isTrue();
		assertThat(this.connection.write("key", 11, "b", "b#1")).isTrue();
		assertThat(this.connection.write("key", 10, "a", "a#1")).isFalse();
		assertThat(this.connection.write("other", 10, "a", "a#2")).isTrue();
	}

	@Test
	void equalTokenIsAcceptedOfTheSameOwnerAlone() {
		assertThat(this.connection.write("key", 10, "a", "a#1")).isTrue();
		assertThat(this.connection.write("key", 10, "a", "a#1")).isTrue();
		assertThat(this.connection.write("key", 10, "b", "b#1")).isFalse();
	}

	@Test
	void twinWithoutAFenceCountsWhatItAdmits() {
		this.connection.write("key", 11, "b", "b#1");
		assertThat(this.register.staleInTwin()).isZero();
		this.connection.write("key", 10, "a", "a#1");
		assertThat(this.register.staleInTwin()).isEqualTo(1);
	}

	@Test
	void eachWriteIsInTheHistory() throws IOException {
		this.connection.write("key", 11, "b", "b#1");
		this.connection.write("key", 10, "a", "a#1");
		assertThat(HistoryLog.read(this.folder.resolve("history")))
			.extracting(HistoryEvent::call, HistoryEvent::value, HistoryEvent::detail)
			.containsExactly(tuple("b#1", 11L, HistoryEvent.ACCEPTED), tuple("a#1", 10L, HistoryEvent.REFUSED));
	}

}
