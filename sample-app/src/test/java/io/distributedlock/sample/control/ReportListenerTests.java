package io.distributedlock.sample.control;

import org.junit.jupiter.api.Test;

import io.distributedlock.sample.WorkerReport.Held;
import io.distributedlock.sample.WorkerReport.Locks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

class ReportListenerTests {

	private static final Locks NOTHING = new Locks(null, 0, 0);

	private final ReportListener listener = new ReportListener(new EventLog());

	private final WorkerProcess process = mock(WorkerProcess.class);

	private final Worker victim = new Worker(1, this.process);

	private final Worker other = new Worker(2, mock(WorkerProcess.class));

	@Test
	void namesTheSuccessorOfADeadWorker() {
		holdAndFail();
		report(this.other, held("2", 60_000));
		assertThat(this.listener.takeover()).isNotNull()
			.satisfies((takeover) -> assertThat(takeover.toLane()).isEqualTo(2));
	}

	@Test
	void namesTheSuccessorOfALivingWorkerWhoseLeaseIsOver() {
		given(this.process.isAlive()).willReturn(true);
		report(this.victim, held("1", 60_000));
		this.listener.onFault(this.victim, "frozen");
		this.victim.receive(held("1", 0));
		report(this.other, held("2", 60_000));
		assertThat(this.listener.takeover()).isNotNull();
	}

	@Test
	void doesNotTakeTheNextHolderForASuccessorWhileTheLeaseLasts() {
		given(this.process.isAlive()).willReturn(true);
		holdAndFail();
		report(this.other, held("2", 60_000));
		assertThat(this.listener.takeover()).isNull();
	}

	@Test
	void forgetsAFaultWhoseWorkerRenews() {
		holdAndFail();
		report(this.victim, held("1", 70_000));
		report(this.other, held("2", 60_000));
		assertThat(this.listener.takeover()).isNull();
	}

	@Test
	void forgetsAFaultWhoseWorkerHadReleased() {
		holdAndFail();
		report(this.victim, NOTHING);
		report(this.other, held("2", 60_000));
		assertThat(this.listener.takeover()).isNull();
	}

	@Test
	void forgetsFaultsAndTakeoversOfFormerSales() {
		holdAndFail();
		this.listener.onSale();
		report(this.other, held("2", 60_000));
		assertThat(this.listener.takeover()).isNull();
		this.listener.onFault(this.other, "killed");
		report(this.victim, held("3", 60_000));
		assertThat(this.listener.takeover()).isNotNull();
		this.listener.onSale();
		assertThat(this.listener.takeover()).isNull();
	}

	@Test
	void forgetsTheFormerFaultAtOneWithoutALock() {
		holdAndFail();
		this.listener.onFault(new Worker(3, mock(WorkerProcess.class)), "killed");
		report(this.other, held("2", 60_000));
		assertThat(this.listener.takeover()).isNull();
	}

	private void holdAndFail() {
		report(this.victim, held("1", 60_000));
		this.listener.onFault(this.victim, "killed");
	}

	private void report(Worker worker, Locks locks) {
		this.listener.onReport(worker, locks);
		worker.receive(locks);
	}

	private static Locks held(String token, long remainingMillis) {
		return new Locks(new Held(token, 70_000, remainingMillis), 0, 0);
	}

}
