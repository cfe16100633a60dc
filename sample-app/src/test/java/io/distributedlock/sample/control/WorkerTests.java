package io.distributedlock.sample.control;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.distributedlock.sample.WorkerReport.Incident;
import io.distributedlock.sample.WorkerReport.Kind;
import io.distributedlock.sample.WorkerReport.Ready;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

@Tag("full")
class WorkerTests {

	private final WorkerProcess process = mock(WorkerProcess.class);

	private final Worker worker = new Worker(1, this.process);

	@BeforeEach
	void isReady() {
		given(this.process.isAlive()).willReturn(true);
		this.worker.receive(new Ready(1));
	}

	@ParameterizedTest
	@EnumSource(names = { "REFUSED", "UNFENCED" })
	void isStaleAfterALateWrite(Kind kind) {
		this.worker.receive(new Incident(kind, 1, "1"));
		assertThat(this.worker.view(0).state()).isEqualTo("stale");
	}

	@ParameterizedTest
	@EnumSource(names = { "REFUSED", "UNFENCED" }, mode = EnumSource.Mode.EXCLUDE)
	void isNotStaleAfterOtherIncidents(Kind kind) {
		this.worker.receive(new Incident(kind, 0, "1"));
		assertThat(this.worker.view(0).state()).isEqualTo("idle");
	}

	@Test
	void isStartingBeforeItIsReady() {
		assertThat(new Worker(2, this.process).view(0).state()).isEqualTo("starting");
	}

}
