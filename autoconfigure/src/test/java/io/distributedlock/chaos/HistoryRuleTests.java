package io.distributedlock.chaos;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import io.distributedlock.chaos.LockCall.End;

import static org.assertj.core.api.Assertions.assertThat;

/** Each rule accepts a history that keeps its promise, and finds each way to break it. */
class HistoryRuleTests {

	/** A lease of three seconds, a call time-out of one, and a machine with time. */
	private static final Bounds BOUNDS = new Bounds(Duration.ofSeconds(3), Duration.ofSeconds(1), Duration.ZERO);

	private final HistoryScript history = new HistoryScript();

	@Test
	void tokensThatRiseKeepThePromise() {
		this.history.hold("a#1", 0, 10).hold("b#1", 20, 11).hold("a#2", 40, 15);
		assertThat(this.history.violationsOf(new RisingTokens())).isEmpty();
	}

	@Test
	void tokensOfSimultaneousCallsMayRiseInAnyOrder() {
		this.history.call("a#1", 0).call("b#1", 0).granted("b#1", 5, 11).granted("a#1", 6, 10);
		assertThat(this.history.violationsOf(new RisingTokens())).isEmpty();
	}

	@Test
	void lowerTokenOfALaterCallIsFound() {
		this.history.hold("a#1", 0, 10).hold("b#1", 20, 15).hold("a#2", 40, 11);
		assertThat(this.history.violationsOf(new RisingTokens())).singleElement()
			.asString()
			.contains("token 11 of a#2", "15 of the earlier b#1");
	}

	@Test
	void equalTokensOfSimultaneousCallsAreFound() {
		this.history.call("a#1", 0).call("b#1", 0).granted("a#1", 5, 10).granted("b#1", 6, 10);
		assertThat(this.history.violationsOf(new RisingTokens())).singleElement().asString().contains("token 10");
	}

	@Test
	void refusedStaleWriteKeepsThePromise() {
		this.history.call("a#1", 0)
			.granted("a#1", 1, 10)
			.accepted("a#1", 2, 10)
			.hold("b#1", 4000, 11)
			.accepted("b#1", 4005, 11)
			.refused("a#1", 4020, 10);
		assertThat(this.history.violationsOf(new FencedWrites())).isEmpty();
	}

	@Test
	void admittedStaleWriteIsFoundWhateverItsToken() {
		this.history.call("a#1", 0)
			.granted("a#1", 1, 12)
			.hold("b#1", 4000, 11)
			.accepted("b#1", 4005, 11)
			.accepted("a#1", 4020, 12);
		assertThat(this.history.violationsOf(new FencedWrites())).singleElement()
			.asString()
			.contains("stale write of a#1", "after one of b#1");
	}

	@Test
	void refusedWriteOfAHolderIsFound() {
		this.history.call("b#1", 0)
			.call("a#1", 0)
			.granted("b#1", 1, 11)
			.accepted("b#1", 2, 11)
			.granted("a#1", 3, 10)
			.refused("a#1", 4, 10)
			.held("a#1", 5);
		assertThat(this.history.violationsOf(new FencedWrites())).singleElement().asString().contains("held the lock");
	}

	@Test
	void writeThatIsRefusedForNoHigherTokenIsFound() {
		this.history.hold("b#1", 0, 10).accepted("b#1", 5, 10).hold("a#1", 20, 10).refused("a#1", 25, 10);
		assertThat(this.history.violationsOf(new FencedWrites())).singleElement()
			.asString()
			.contains("none had a higher");
	}

	@Test
	void writeWithoutALockIsFound() {
		this.history.call("a#1", 0).ended("a#1", 1, End.BUSY).accepted("a#1", 2, 10);
		assertThat(this.history.violationsOf(new FencedWrites())).singleElement().asString().contains("has no lock");
	}

	@Test
	void holderThatWorksOnUnawareDoesNotBelieve() {
		this.history.call("a#1", 0)
			.granted("a#1", 1, 10)
			.held("a#1", 100)
			.hold("b#1", 4000, 11)
			.lost("a#1", 5000)
			.releasedLate("a#1", 5001);
		assertThat(this.history.violationsOf(new SingleBelief())).isEmpty();
	}

	@Test
	void twoHoldersThatBelieveAreFound() {
		this.history.call("a#1", 0).granted("a#1", 1, 10).hold("b#1", 4000, 11).held("a#1", 4005);
		assertThat(this.history.violationsOf(new SingleBelief())).singleElement().asString().contains("a#1", "b#1");
	}

	@Test
	void holdThatOutlastsTheNextOneIsFoundBesideTheThird() {
		this.history.call("a#1", 0).granted("a#1", 1, 10).hold("b#1", 10, 11).hold("c#1", 50, 12).released("a#1", 100);
		assertThat(this.history.violationsOf(new SingleBelief())).hasSize(2);
	}

	@Test
	void callsThatEndInTimeKeepThePromise() {
		this.history.call("a#1", 0).ended("a#1", 1240, End.BUSY).hold("b#1", 0, 10).call("c#1", 0).kill("c", 10);
		assertThat(this.history.violationsOf(new TimelyEnds(BOUNDS))).isEmpty();
	}

	@Test
	void timeOfAStoppedProcessDoesNotCount() {
		this.history.call("a#1", 0).fault(FaultKind.STOP_LONG, "a", 10, 5010).ended("a#1", 6200, End.BUSY);
		assertThat(this.history.violationsOf(new TimelyEnds(BOUNDS))).isEmpty();
	}

	@Test
	void timeWithoutAProcessorCountsOnceAndIsNoOtherProcesses() {
		this.history.fault(FaultKind.STOP_LONG, "a", 10, 5010).stall("a", 10, 5510).stall("b", 10, 5510);
		this.history.call("a#1", 0).ended("a#1", 6750, End.BUSY).call("b#1", 0).ended("b#1", 6751, End.BUSY);
		assertThat(this.history.violationsOf(new TimelyEnds(BOUNDS))).singleElement()
			.asString()
			.contains("b#1", "1251 ms");
	}

	@Test
	void stopOfAnotherProcessIsNoExcuse() {
		this.history.call("a#1", 0).fault(FaultKind.STOP_LONG, "b", 10, 5010).ended("a#1", 6200, End.BUSY);
		assertThat(this.history.violationsOf(new TimelyEnds(BOUNDS))).singleElement().asString().contains("6200 ms");
	}

	@Test
	void callWithoutAnEndIsFound() {
		this.history.call("a#1", 0);
		assertThat(this.history.violationsOf(new TimelyEnds(BOUNDS))).singleElement().asString().contains("not ended");
	}

	@Test
	void slowReleaseIsFound() {
		this.history.call("a#1", 0).granted("a#1", 1, 10).released("a#1", 20, 1270);
		assertThat(this.history.violationsOf(new TimelyEnds(BOUNDS))).isEmpty();
		this.history.call("a#2", 2000).granted("a#2", 2001, 11).released("a#2", 2020, 3271);
		assertThat(this.history.violationsOf(new TimelyEnds(BOUNDS))).singleElement()
			.asString()
			.contains("the release of a#2", "1251 ms");
	}

	@Test
	void endThatIsNotDocumentedIsFound() {
		this.history.call("a#1", 0).ended("a#1", 10, End.UNKNOWN);
		assertThat(this.history.violationsOf(new TimelyEnds(BOUNDS))).singleElement().asString().contains("documented");
	}

	@Test
	void lossAfterAFaultOfItsProcessIsExplained() {
		this.history.call("a#1", 0).granted("a#1", 1, 10).fault(FaultKind.BLACK_HOLE, "a", 100, 2900).lost("a#1", 2990);
		assertThat(this.history.violationsOf(new ExplainedLosses(BOUNDS))).isEmpty();
	}

	@Test
	void lossIsNotExplainedByAFaultOfAnotherProcessOrAnInterrupt() {
		this.history.call("a#1", 0)
			.granted("a#1", 1, 10)
			.fault(FaultKind.BLACK_HOLE, "b", 100, 2900)
			.fault(FaultKind.INTERRUPT, "a", 100, 101)
			.lost("a#1", 2990);
		assertThat(this.history.violationsOf(new ExplainedLosses(BOUNDS))).hasSize(1);
	}

	@Test
	void lossOfAStarvedProcessIsExplained() {
		this.history.call("a#1", 0).granted("a#1", 1, 10).stall("a", 1000, 1600).lost("a#1", 2990);
		assertThat(this.history.violationsOf(new ExplainedLosses(BOUNDS))).isEmpty();
	}

	@Test
	void lossIsNotExplainedByAShortOrForeignStall() {
		this.history.call("a#1", 0)
			.granted("a#1", 1, 10)
			.stall("a", 1000, 1400)
			.stall("b", 1000, 2900)
			.lost("a#1", 2990);
		assertThat(this.history.violationsOf(new ExplainedLosses(BOUNDS))).hasSize(1);
	}

	@Test
	void lossIsNotExplainedByAFaultOfLongAgoOrLater() {
		this.history.fault(FaultKind.SERVER_STOP, HistoryEvent.STORE, 0, 100)
			.call("a#1", 4200)
			.granted("a#1", 4201, 10)
			.lost("a#1", 7000)
			.fault(FaultKind.SERVER_STOP, HistoryEvent.STORE, 7001, 7100);
		assertThat(this.history.violationsOf(new ExplainedLosses(BOUNDS))).hasSize(1);
	}

	@Test
	void lossThatIsToldKeepsThePromise() {
		this.history.call("a#1", 0).granted("a#1", 1, 10).lost("a#1", 3000).releasedLate("a#1", 3100);
		assertThat(this.history.hold("b#1", 4000, 11).violationsOf(new ToldLosses())).isEmpty();
	}

	@Test
	void lossThatIsNotToldIsFound() {
		this.history.call("a#1", 0).granted("a#1", 1, 10).releasedLate("a#1", 3100);
		assertThat(this.history.violationsOf(new ToldLosses())).singleElement().asString().contains("no loss was told");
	}

	@Test
	void waiterThatIsServedKeepsThePromise() {
		this.history.call("b#1", 0, CallMode.ASYNC).hold("a#1", 1, 10).granted("b#1", 1200, 11).released("b#1", 1300);
		assertThat(this.history.residue(9000, 0).violationsOf(new ServedWaiters(BOUNDS))).isEmpty();
	}

	@Test
	void waiterForAFreeLockIsFound() {
		this.history.call("b#1", 0).hold("a#1", 1, 10).granted("b#1", 1300, 11).released("b#1", 1310);
		assertThat(this.history.residue(9000, 0).violationsOf(new ServedWaiters(BOUNDS))).singleElement()
			.asString()
			.contains("b#1", "1287 ms while the lock was free");
	}

	@Test
	void waiterThatEndsWithoutTheFreeLockIsFound() {
		this.history.hold("a#1", 0, 10).call("b#1", 20).ended("b#1", 1300, End.BUSY);
		assertThat(this.history.residue(9000, 0).violationsOf(new ServedWaiters(BOUNDS))).hasSize(1);
	}

	@Test
	void lockOfAKilledProcessIsTakenUntilItsLeaseIsOver() {
		this.history.call("a#1", 0)
			.granted("a#1", 1, 10)
			.kill("a", 10)
			.call("b#1", 20)
			.granted("b#1", 5200, 11)
			.released("b#1", 5300);
		assertThat(this.history.residue(9000, 0).violationsOf(new ServedWaiters(BOUNDS))).isEmpty();
	}

	@Test
	void lockOfAKilledProcessIsNotTakenForLonger() {
		this.history.call("a#1", 0)
			.granted("a#1", 1, 10)
			.kill("a", 10)
			.call("b#1", 20)
			.granted("b#1", 5300, 11)
			.released("b#1", 5400);
		assertThat(this.history.residue(9000, 0).violationsOf(new ServedWaiters(BOUNDS))).hasSize(1);
	}

	@Test
	void waiterBehindAFaultOfTheStoreIsExcused() {
		this.history.call("b#1", 0)
			.fault(FaultKind.SERVER_STOP, HistoryEvent.STORE, 1, 1000)
			.granted("b#1", 6200, 11)
			.released("b#1", 6300);
		assertThat(this.history.residue(9000, 0).violationsOf(new ServedWaiters(BOUNDS))).isEmpty();
	}

	@Test
	void waiterForAStoreThatDoesNotAnswerIsExcused() {
		this.history.call("b#1", 0).stall(HistoryEvent.STORE, 1, 1000).granted("b#1", 6200, 11).released("b#1", 6300);
		assertThat(this.history.residue(9000, 0).violationsOf(new ServedWaiters(BOUNDS))).isEmpty();
	}

	@Test
	void takeoverWithinTheLeaseKeepsThePromise() {
		takeover(3200);
		assertThat(this.history.violationsOf(new TimelyTakeovers(BOUNDS))).isEmpty();
	}

	@Test
	void lateTakeoverIsFound() {
		takeover(3300);
		assertThat(this.history.violationsOf(new TimelyTakeovers(BOUNDS))).singleElement()
			.asString()
			.contains("b#1", "killed a#1", "3290 ms");
	}

	@Test
	void lateTakeoverOfAProcessWithAFaultIsExcused() {
		this.history.fault(FaultKind.CUT, "b", 500, 600);
		takeover(3300);
		assertThat(this.history.violationsOf(new TimelyTakeovers(BOUNDS))).isEmpty();
	}

	@Test
	void lateTakeoverFromAStoreThatDoesNotAnswerIsExcused() {
		this.history.stall(HistoryEvent.STORE, 500, 600);
		takeover(3300);
		assertThat(this.history.violationsOf(new TimelyTakeovers(BOUNDS))).isEmpty();
	}

	private void takeover(long at) {
		this.history.call("a#1", 0).granted("a#1", 1, 10).call("b#1", 5).kill("a", 10).granted("b#1", at, 11);
	}

	@Test
	void emptyStoreKeepsThePromise() {
		assertThat(this.history.residue(1, 0).violationsOf(new EmptyStore())).isEmpty();
	}

	@Test
	void residueIsFound() {
		assertThat(this.history.residue(1, 2).violationsOf(new EmptyStore())).hasSize(1);
	}

}
