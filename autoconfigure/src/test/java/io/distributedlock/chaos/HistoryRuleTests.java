package io.distributedlock.chaos;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.distributedlock.chaos.LockCall.End;

import static org.assertj.core.api.Assertions.assertThat;

/** Each rule accepts a history that keeps its promise, and finds each way to break it. */
class HistoryRuleTests {

	/** A lease of three seconds, a call time-out of one, and a machine with time. */
	private static final Bounds BOUNDS = new Bounds(Duration.ofSeconds(3), Duration.ofSeconds(1), Duration.ZERO, true);

	private static final int SHARED = Integer.MAX_VALUE;

	private final HistoryScript history = new HistoryScript();

	private static void assertKept(HistoryRule rule, HistoryScript history) {
		assertThat(history.violationsOf(rule)).isEmpty();
	}

	/** One violation, whose text has all of some texts. */
	private static void assertFound(HistoryRule rule, HistoryScript history, String... texts) {
		assertThat(history.violationsOf(rule)).singleElement()
			.satisfies((text) -> assertThat(List.of(texts)).allMatch(text::contains));
	}

	@Test
	void tokensThatRiseKeepThePromise() {
		assertKept(new RisingTokens(), this.history.hold("a#1", 0, 10).hold("b#1", 20, 11).hold("a#2", 40, 15));
	}

	@Test
	void tokensOfSimultaneousCallsMayRiseInAnyOrder() {
		this.history.call("a#1", 0).call("b#1", 0).granted("b#1", 5, 11).granted("a#1", 6, 10);
		assertKept(new RisingTokens(), this.history);
	}

	@Test
	void lowerTokenOfALaterCallIsFound() {
		this.history.hold("a#1", 0, 10).hold("b#1", 20, 15).hold("a#2", 40, 11);
		assertFound(new RisingTokens(), this.history, "token 11 of a#2", "15 of the earlier b#1");
	}

	@Test
	void equalTokensOfSimultaneousCallsAreFound() {
		this.history.call("a#1", 0).call("b#1", 0).granted("a#1", 5, 10).granted("b#1", 6, 10);
		assertFound(new RisingTokens(), this.history, "token 10");
	}

	@Test
	void refusedStaleWriteKeepsThePromise() {
		this.history.grant("a#1", 0, 10).accepted("a#1", 2, 10).hold("b#1", 4000, 11).accepted("b#1", 4005, 11);
		assertKept(new FencedWrites(), this.history.refused("a#1", 4020, 10));
	}

	@Test
	void admittedStaleWriteIsFoundWhateverItsToken() {
		this.history.grant("a#1", 0, 12).hold("b#1", 4000, 11).accepted("b#1", 4005, 11).accepted("a#1", 4020, 12);
		assertFound(new FencedWrites(), this.history, "stale write of a#1", "after one of b#1");
	}

	@Test
	void refusedWriteOfAHolderIsFound() {
		this.history.call("b#1", 0).call("a#1", 0).granted("b#1", 1, 11).accepted("b#1", 2, 11).granted("a#1", 3, 10);
		assertFound(new FencedWrites(), this.history.refused("a#1", 4, 10).held("a#1", 5), "held the lock");
	}

	@Test
	void writeThatIsRefusedForNoHigherTokenIsFound() {
		this.history.hold("b#1", 0, 10).accepted("b#1", 5, 10).hold("a#1", 20, 10).refused("a#1", 25, 10);
		assertFound(new FencedWrites(), this.history, "none had a higher");
	}

	@Test
	void writeWithoutALockIsFound() {
		this.history.call("a#1", 0).ended("a#1", 1, End.BUSY).accepted("a#1", 2, 10);
		assertFound(new FencedWrites(), this.history, "has no lock");
	}

	@Test
	void holderThatWorksOnUnawareDoesNotBelieve() {
		this.history.grant("a#1", 0, 10).held("a#1", 100).hold("b#1", 4000, 11).lost("a#1", 5000);
		assertKept(new SingleBelief(), this.history.releasedLate("a#1", 5001));
	}

	@Test
	void twoHoldersThatBelieveAreFound() {
		this.history.grant("a#1", 0, 10).hold("b#1", 4000, 11).held("a#1", 4005);
		assertFound(new SingleBelief(), this.history, "a#1", "b#1");
	}

	@Test
	void holdThatOutlastsTheNextOneIsFoundBesideTheThird() {
		this.history.grant("a#1", 0, 10).hold("b#1", 10, 11).hold("c#1", 50, 12).released("a#1", 100);
		assertThat(this.history.violationsOf(new SingleBelief())).hasSize(2);
	}

	@Test
	void callsThatEndInTimeKeepThePromise() {
		this.history.call("a#1", 0).ended("a#1", 1240, End.BUSY).hold("b#1", 0, 10).call("c#1", 0).kill("c", 10);
		assertKept(new TimelyEnds(BOUNDS), this.history);
	}

	@Test
	void timeOfAStoppedProcessDoesNotCount() {
		this.history.call("a#1", 0).fault(FaultKind.STOP_LONG, "a", 10, 5010).ended("a#1", 6200, End.BUSY);
		assertKept(new TimelyEnds(BOUNDS), this.history);
	}

	@Test
	void timeWithoutAProcessorCountsOnceAndIsNoOtherProcesses() {
		this.history.fault(FaultKind.STOP_LONG, "a", 10, 5010).stall("a", 10, 5510).stall("b", 10, 5510);
		this.history.call("a#1", 0).ended("a#1", 6750, End.BUSY).call("b#1", 0).ended("b#1", 6751, End.BUSY);
		assertFound(new TimelyEnds(BOUNDS), this.history, "b#1", "1251 ms");
	}

	@Test
	void stopOfAnotherProcessIsNoExcuse() {
		this.history.call("a#1", 0).fault(FaultKind.STOP_LONG, "b", 10, 5010).ended("a#1", 6200, End.BUSY);
		assertFound(new TimelyEnds(BOUNDS), this.history, "6200 ms");
	}

	@Test
	void callWithoutAnEndIsFound() {
		assertFound(new TimelyEnds(BOUNDS), this.history.call("a#1", 0), "not ended");
	}

	@Test
	void slowReleaseIsFound() {
		assertKept(new TimelyEnds(BOUNDS), this.history.grant("a#1", 0, 10).released("a#1", 20, 1270));
		this.history.grant("a#2", 2000, 11).released("a#2", 2020, 3271);
		assertFound(new TimelyEnds(BOUNDS), this.history, "the release of a#2", "1251 ms");
	}

	@Test
	void endThatIsNotDocumentedIsFound() {
		assertFound(new TimelyEnds(BOUNDS), this.history.call("a#1", 0).ended("a#1", 10, End.UNKNOWN), "documented");
	}

	@Test
	void lossAfterAFaultOfItsProcessIsExplained() {
		this.history.grant("a#1", 0, 10).fault(FaultKind.BLACK_HOLE, "a", 100, 2900).lost("a#1", 2990);
		assertKept(new ExplainedLosses(BOUNDS), this.history);
	}

	@Test
	void lossIsNotExplainedByAFaultOfAnotherProcessOrAnInterrupt() {
		this.history.grant("a#1", 0, 10).fault(FaultKind.BLACK_HOLE, "b", 100, 2900);
		this.history.fault(FaultKind.INTERRUPT, "a", 100, 101).lost("a#1", 2990);
		assertFound(new ExplainedLosses(BOUNDS), this.history);
	}

	@Test
	void lossOfAStarvedProcessIsExplained() {
		this.history.grant("a#1", 0, 10).stall("a", 1000, 1600).lost("a#1", 2990);
		assertKept(new ExplainedLosses(BOUNDS), this.history);
	}

	@Test
	void lossBesideAStalledStoreIsExplained() {
		this.history.grant("a#1", 0, 10).stall(HistoryEvent.STORE, 1000, 1600).lost("a#1", 2990);
		assertKept(new ExplainedLosses(BOUNDS), this.history);
	}

	@Test
	void lossIsNotExplainedByAShortOrForeignStall() {
		this.history.grant("a#1", 0, 10).stall("a", 1000, 1400).stall("b", 1000, 2900).lost("a#1", 2990);
		assertFound(new ExplainedLosses(BOUNDS), this.history);
	}

	@Test
	void lossIsNotExplainedByAFaultOfLongAgoOrLater() {
		this.history.fault(FaultKind.SERVER_STOP, HistoryEvent.STORE, 0, 100).grant("a#1", 4200, 10).lost("a#1", 7000);
		this.history.fault(FaultKind.SERVER_STOP, HistoryEvent.STORE, 7001, 7100);
		assertFound(new ExplainedLosses(BOUNDS), this.history);
	}

	@Test
	void lossThatIsToldKeepsThePromise() {
		this.history.grant("a#1", 0, 10).lost("a#1", 3000).releasedLate("a#1", 3100);
		assertThat(this.history.hold("b#1", 4000, 11).violationsOf(new ToldLosses())).isEmpty();
	}

	@Test
	void lossThatIsNotToldIsFound() {
		assertFound(new ToldLosses(), this.history.grant("a#1", 0, 10).releasedLate("a#1", 3100), "no loss was told");
	}

	@Test
	void waiterThatIsServedKeepsThePromise() {
		this.history.call("b#1", 0).hold("a#1", 1, 10).granted("b#1", 1200, 11).released("b#1", 1300);
		assertKept(new ServedWaiters(BOUNDS), this.history);
	}

	@Test
	void waiterForAFreeLockIsFound() {
		this.history.call("b#1", 0).hold("a#1", 1, 10).granted("b#1", 1300, 11).released("b#1", 1310);
		assertFound(new ServedWaiters(BOUNDS), this.history, "b#1", "1287 ms while the lock was free");
	}

	@Test
	void waiterThatEndsWithoutTheFreeLockIsFound() {
		this.history.hold("a#1", 0, 10).call("b#1", 20).ended("b#1", 1300, End.BUSY);
		assertFound(new ServedWaiters(BOUNDS), this.history);
	}

	@Test
	void lockOfAKilledProcessIsTakenUntilItsLeaseIsOver() {
		this.history.grant("a#1", 0, 10).kill("a", 10).call("b#1", 20).granted("b#1", 5200, 11).released("b#1", 5300);
		assertKept(new ServedWaiters(BOUNDS), this.history);
	}

	@Test
	void lockOfAKilledProcessIsNotTakenForLonger() {
		this.history.grant("a#1", 0, 10).kill("a", 10).call("b#1", 20).granted("b#1", 5300, 11).released("b#1", 5400);
		assertFound(new ServedWaiters(BOUNDS), this.history);
	}

	@Test
	void waiterBehindAFaultOfTheStoreIsExcused() {
		this.history.call("b#1", 0).fault(FaultKind.SERVER_STOP, HistoryEvent.STORE, 1, 1000).granted("b#1", 6200, 11);
		assertKept(new ServedWaiters(BOUNDS), this.history.released("b#1", 6300));
	}

	@Test
	void waiterForAStoreThatDoesNotAnswerIsExcused() {
		this.history.call("b#1", 0).stall(HistoryEvent.STORE, 1, 1000).granted("b#1", 6200, 11).released("b#1", 6300);
		assertKept(new ServedWaiters(BOUNDS), this.history);
	}

	@Test
	void takeoverWithinTheLeaseKeepsThePromise() {
		takeover(3200);
		assertKept(new TimelyTakeovers(BOUNDS), this.history);
	}

	@Test
	void lateTakeoverIsFound() {
		takeover(3300);
		assertFound(new TimelyTakeovers(BOUNDS), this.history, "b#1", "killed a#1", "3290 ms");
	}

	@Test
	void lateTakeoverOfAProcessWithAFaultIsExcused() {
		this.history.fault(FaultKind.CUT, "b", 500, 600);
		takeover(3300);
		assertKept(new TimelyTakeovers(BOUNDS), this.history);
	}

	@Test
	void lateTakeoverFromAStoreThatDoesNotAnswerIsExcused() {
		this.history.stall(HistoryEvent.STORE, 500, 600);
		takeover(3300);
		assertKept(new TimelyTakeovers(BOUNDS), this.history);
	}

	private void takeover(long at) {
		this.history.grant("a#1", 0, 10).call("b#1", 5).kill("a", 10).granted("b#1", at, 11);
	}

	@Test
	void killedShareHasNoHeir() {
		this.history.call("a#1", 0, SHARED).granted("a#1", 1, 10).kill("a", 10);
		assertKept(new TimelyTakeovers(BOUNDS), this.history.call("b#1", 5).granted("b#1", 3300, 11));
	}

	@Test
	void sharesMayBeHeldTogetherUpToTheirPermits() {
		this.history.share("a#1", SHARED, 0, 50, 10).share("b#1", SHARED, 1, 50, 11).share("c#1", SHARED, 2, 50, 12);
		this.history.share("a#2", 2, 60, 90, 13).share("b#2", 2, 61, 95, 14).share("c#2", 2, 90, 99, 15);
		assertKept(new SingleBelief(), this.history);
	}

	@Test
	void exclusiveHolderBesideAShareIsFound() {
		this.history.share("a#1", SHARED, 0, 50, 10).share("b#1", SHARED, 1, 20, 11).hold("c#1", 30, 12);
		this.history.hold("c#2", 100, 13).share("a#2", 2, 105, 150, 14);
		assertThat(this.history.violationsOf(new SingleBelief())).hasSize(2)
			.anySatisfy((text) -> assertThat(text).contains("a#1", "c#1"))
			.anySatisfy((text) -> assertThat(text).contains("c#2", "a#2"));
	}

	@Test
	void onePermitTooManyIsFound() {
		this.history.share("a#1", 2, 0, 50, 10).share("b#1", 2, 1, 50, 11).share("c#1", 2, 2, 50, 12);
		assertFound(new SingleBelief(), this.history, "c#1");
	}

	@Test
	void shareThatJoinsThatOfItsProcessMayHaveItsToken() {
		this.history.share("a#1", SHARED, 0, 50, 10).share("b#1", SHARED, 2, 50, 11).share("a#2", SHARED, 6, 50, 10);
		assertKept(new RisingTokens(), this.history);
	}

	@Test
	void lowTokensOfSharesAndPermitsAreFound() {
		this.history.hold("a#1", 0, 10).share("b#1", SHARED, 20, 30, 9).share("c#1", SHARED, 40, 50, 9);
		this.history.share("a#2", 2, 60, 70, 11).share("b#2", 2, 80, 90, 11).hold("c#2", 100, 11);
		assertThat(this.history.violationsOf(new RisingTokens())).extracting((text) -> text.substring(0, 15))
			.containsExactly("token 9 of b#1 ", "token 9 of c#1 ", "token 9 is that", "token 11 of b#2",
					"token 11 is tha", "token 11 of c#2", "token 11 is tha");
	}

	@Test
	void writerMayWaitForSharesThatCameBeforeIt() {
		this.history.share("a#1", SHARED, 0, 4000, 10).call("b#1", 5).granted("b#1", 4010, 11).released("b#1", 4020);
		assertKept(new ServedWaiters(BOUNDS), this.history);
	}

	@Test
	void writerThatLaterSharesKeepWaitingIsFound() {
		this.history.share("a#1", SHARED, 0, 1400, 10).share("c#1", SHARED, 1300, 2700, 11);
		this.history.call("b#1", 5).granted("b#1", 2710, 12).released("b#1", 2720);
		assertFound(new ServedWaiters(BOUNDS), this.history, "b#1", "1309 ms while the lock was free");
	}

	@Test
	void permitMayWaitForAllPermitsOrForAWriter() {
		this.history.share("a#1", 2, 0, 2000, 10).share("b#1", 2, 1, 1900, 11).share("c#1", 2, 5, 3000, 12);
		this.history.call("d#1", 3100).share("c#2", 2, 3101, 6000, 13).granted("d#1", 6001, 14).released("d#1", 6002);
		assertKept(new ServedWaiters(BOUNDS), this.history);
	}

	@Test
	void waiterForAPermitThatIsFreeIsFound() {
		this.history.share("a#1", 2, 0, 4000, 10).share("b#1", 2, 1, 100, 11);
		this.history.call("c#1", 5, 2).granted("c#1", 1400, 12).released("c#1", 1450);
		assertFound(new ServedWaiters(BOUNDS), this.history, "c#1", "1299 ms while the lock was free");
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
