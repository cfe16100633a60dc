package io.distributedlock.support;

import java.util.List;

/**
 * Ways to break the engine, each of which the simulation has to find: it shows that its
 * checks can fail. A name says what goes wrong; the text is replaced in a source of the
 * engine.
 *
 * @param name what goes wrong, one line
 * @param type the simple name of the type that is broken
 * @param text what is replaced, once
 * @param replacement what replaces it
 */
record EngineBreakage(String name, String type, String text, String replacement) {

	static final List<EngineBreakage> ALL = List.of(
			new EngineBreakage("the owner id is kept after a failed attempt", "KeyContest",
					"\tvoid recordFailure(boolean mayBeEnqueued, long nowNanos) {\n" + "\t\tthis.owner = null;",
					"\tvoid recordFailure(boolean mayBeEnqueued, long nowNanos) {"),
			new EngineBreakage("the owner id is kept after a grant", "KeyContest",
					"\tvoid recordGrant() {\n" + "\t\tthis.owner = null;", "\tvoid recordGrant() {"),
			new EngineBreakage("the deadline counts from the answer", "KeyAttempts",
					"head.terms(), current.sentNanos(), now);", "head.terms(), now, now);"),
			new EngineBreakage("the next head is not signalled when a grant ends", "KeyState",
					"\t\t\t\t\tthis.contest.recordEnd();\n" + "\t\t\t\t}\n" + "\t\t\t\tsignalHeadOrClose();",
					"\t\t\t\t\tthis.contest.recordEnd();\n" + "\t\t\t\t}"),
			new EngineBreakage("the next head is not signalled when the head leaves", "KeyAttempts",
					"stopState()::recordProgress);\n" + "\t\t}\n" + "\t\tthis.state.signalHeadOrClose();",
					"stopState()::recordProgress);\n" + "\t\t}"),
			new EngineBreakage("an entry of the wait queue is not withdrawn", "PendingReleaseQueue",
					"\t\t\twithdraw(key, contender);\n", "\t\t\tcontender.close();\n"),
			new EngineBreakage("a handle does not wait for those that keep its lock", "Hold",
					"\t\treturn present == 0;", "\t\treturn true;"),
			new EngineBreakage("the last handle that keeps a lock does not release it", "Hold",
					"return (int) KEEPERS.getAndAdd(this, -1) - 1 == CLOSED;",
					"return (int) KEEPERS.getAndAdd(this, -1) - 1 == 0;"),
			new EngineBreakage("a loss is told whoever ended the hold", "HeldGrants",
					"\t\tif (effect == GrantState.LossEffect.HOLD_ENDED) {\n"
							+ "\t\t\tthis.events.lost(heldGrant.holder(), reason);",
					"\t\tif (effect == GrantState.LossEffect.HOLD_ENDED || reason == LossReason.EXPIRED) {\n"
							+ "\t\t\tthis.events.lost(heldGrant.holder(), reason);"),
			new EngineBreakage("no deadline is watched", "ExpiryWatch",
					"\t\tthis.nextDeadline.setAt(heldGrant.deadlineNanos());\n" + "\t}\n" + "\n" + "\tprivate",
					"\t}\n" + "\n" + "\tprivate"),
			new EngineBreakage("an unclear attempt is not taken back", "KeyAttempts", "\t\tif (end.unclear()) {",
					"\t\tif (end.unclear() && current.isPrepared()) {"),
			new EngineBreakage("an overdue attempt is not taken back", "KeyAttempts",
					"\t\t\tthis.state.lock.follow(() -> abandon(current, call));\n", ""),
			new EngineBreakage("a failure is told as busy", "KeyQueue",
					"this.state.engine.failures().again(this.state.key, failed)", "new RequestOutcome.Busy(null)"),
			new EngineBreakage("an attempt begins although this process has the grant", "KeyQueue",
					"if (this.state.grant == null && this.state.head() == waiter) {",
					"if (this.state.head() == waiter) {"),
			new EngineBreakage("two attempts are under way", "KeyQueue",
					"return (attempt != null) ? awaitAttempt(attempt, waiter, mayWait) : prepareAttempt(waiter, mayWait, now);",
					"return prepareAttempt(waiter, mayWait, now);"),
			new EngineBreakage("the last come is the first served", "WaiterQueue",
					"\t\twaiter.previous = this.tail;\n" + "\t\tif (this.tail != null) {\n"
							+ "\t\t\tthis.tail.next = waiter;\n" + "\t\t}\n" + "\t\telse {\n"
							+ "\t\t\tthis.head = waiter;\n" + "\t\t}\n" + "\t\tthis.tail = waiter;",
					"\t\twaiter.next = this.head;\n" + "\t\tif (this.head != null) {\n"
							+ "\t\t\tthis.head.previous = waiter;\n" + "\t\t}\n" + "\t\telse {\n"
							+ "\t\t\tthis.tail = waiter;\n" + "\t\t}\n" + "\t\tthis.head = waiter;"),
			new EngineBreakage("a grant that nobody wants is kept", "KeyAttempts",
					"\t\t\treleaseLater(current, true);\n" + "\t\t\treturn;\n" + "\t\t}\n" + "\t\tHeldGrant held",
					"\t\t\treturn;\n" + "\t\t}\n" + "\t\tHeldGrant held"),
			new EngineBreakage("a grant that came too late is accepted", "KeyAttempts", "\t\tif (refusal != null) {",
					"\t\tif (refusal != null && head.requester().isEmpty()) {"),
			new EngineBreakage("a released grant blocks its key", "HeldGrants",
					"\tprivate void end(HeldGrant heldGrant) {\n" + "\t\tthis.all.remove(heldGrant.grant().owner());\n"
							+ "\t\tthis.onEnd.accept(heldGrant);",
					"\tprivate void end(HeldGrant heldGrant) {\n" + "\t\tthis.all.remove(heldGrant.grant().owner());"),
			new EngineBreakage("NOT_HELD confirms the release of an unclear attempt", "PendingRelease",
					"(outcome == ReleaseOutcome.NOT_HELD && this.kind != Kind.UNSEEN_GRANT)",
					"outcome == ReleaseOutcome.NOT_HELD"),
			new EngineBreakage("a pending release is sent once only", "PendingReleaseQueue",
					"over = entry.cancelled || this.closed", "over = entry.sentBefore || this.closed"),
			new EngineBreakage("a contender is not closed after its withdrawal", "PendingReleaseQueue",
					"\t\tif (over) {\n" + "\t\t\tclose(entry);\n" + "\t\t}", ""),
			new EngineBreakage("an engine that stops refuses nobody", "KeyQueue",
					"if (waiter.queued && this.state.engine.stopState().isStopping()) {",
					"if (waiter.queued && this.state.engine.stopState().isStopping() && this.state.isClosed()) {"),
			new EngineBreakage("a grant that arrives during the stop is given", "HoldStart",
					"if (this.stopState.isStopping()) {", "if (this.stopState.isStopping() && waiter.isComplete()) {"),
			new EngineBreakage("a request that is given up keeps its hold", "KeyRequest",
					"\t\t\tacquired.hold().closeInBackground();", "\t\t\tacquired.hold().isHeld();"),
			new EngineBreakage("no renewal is registered", "RenewalScheduler",
					"\t\tif (heldGrant.needsRenewal()) {\n" + "\t\t\tthis.nextRound",
					"\t\tif (!heldGrant.needsRenewal()) {\n" + "\t\t\tthis.nextRound"),
			new EngineBreakage("deadlines have no margin for clocks that drift", "Nanos",
					"return nanos - nanos / 200 - 2_000_000L;", "return nanos;"),
			new EngineBreakage("a wait has no end", "WaitBudget",
					"return !Nanos.isPast(this.waitUntilNanos, nowNanos);", "return true;"),
			new EngineBreakage("an attempt that nobody waits for has no end", "KeyAttempts",
					"this.state.lock.follow(() -> this.state.engine.environment().schedule(() -> expire(current), delay));",
					"this.state.lock.follow(() -> this.state.engine.environment().schedule(() -> isOverdue(delay), delay));"),
			new EngineBreakage("a call in the background has no end", "BoundedCall",
					"environment.schedule(bounded::expire, timeout.toNanos())",
					"environment.schedule(() -> {\n" + "\t\t}, timeout.toNanos())"),
			new EngineBreakage("a lane of renewals is never free again", "RenewalScheduler",
					"\tprivate void ended(Lane lane) {\n" + "\t\tthis.busy.remove(lane);",
					"\tprivate void ended(Lane lane) {"),
			new EngineBreakage("part of a refused request is kept", "MultiKeyRequest",
					"MultiKeyLease.closeAll(this.acquired, Hold::closeInBackground);", "this.acquired.isEmpty();"),
			new EngineBreakage("loss actions do not run", "Hold", "\t\tinOrder.forEach(queue::execute);",
					"\t\tinOrder.clear();"),
			new EngineBreakage("a loss at the release is not told", "GrantState",
					"return current < 0 && lossReason() == null\n", "return current > 0 && lossReason() == null\n"),
			new EngineBreakage("the latest instant replaces the earliest one", "EarliestSignal",
					"instantNanos - present.instantNanos < 0;", "instantNanos - present.instantNanos > 0;"),
			new EngineBreakage("a queue closes while an attempt is under way", "KeyState",
					"if (this.closed || this.grant != null || this.attempt != null) {",
					"if (this.closed || this.grant != null) {"),
			new EngineBreakage("a renewal that is answered NOT_HELD is no loss", "RenewalBatches",
					"\t\t\t\tthis.heldGrants.lose(heldGrant, LossReason.NOT_HELD);\n", ""),
			new EngineBreakage("waiters whose time is over do not learn of an answer", "KeyAnswers",
					"\t\t\t\tlock.follow(waiter::signal);\n", ""),
			new EngineBreakage("a notification is forgotten", "KeyContest",
					"\t\tthis.notified = true;\n" + "\t\tthis.pausing = false;", "\t\tthis.notified = false;"),
			new EngineBreakage("a release without an answer is not repeated", "HeldGrants",
					"\t\t\t\taddPending(heldGrant);\n" + "\t\t\t}\n" + "\t\t\tif (!lose",
					"\t\t\t}\n" + "\t\t\tif (!lose"),
			new EngineBreakage("a handle that is closed late ends the next hold", "GrantState",
					"return state >= 0 && (state & OFFERED) == 0 && state >> NUMBER_SHIFT == holdNumber;",
					"return state >= 0 && (state & OFFERED) == 0;"),
			new EngineBreakage("the next hold has the number of the last one", "GrantState",
					"(holdNumber + 1 << NUMBER_SHIFT) | OFFERED", "(holdNumber << NUMBER_SHIFT) | OFFERED"),
			new EngineBreakage("an offer has no end", "KeyHandOff",
					"this.engine.environment().schedule(() -> expire(grant), delay);",
					"this.engine.environment().schedule(grant::isOffered, delay);"),
			new EngineBreakage("an offer is lost when the head leaves", "KeyQueue",
					"\t\tif (wasHead) {\n" + "\t\t\thandOff().headLeft();\n" + "\t\t}\n", ""),
			new EngineBreakage("the head is passed over without end", "Waiter",
					"return this.overtakes < MAX_OVERTAKES && nowNanos - this.offeredNanos < MAX_OVERTAKING_NANOS;",
					"return nowNanos - this.offeredNanos >= 0;"),
			new EngineBreakage("a grant of any age is handed off", "HeldGrant",
					"nowNanos - this.grantedNanos < maxNanos && ", "maxNanos > 0 && "),
			new EngineBreakage("a grant is handed off to a request with other terms", "HeldGrant",
					"this.renew == terms.renew() && this.lease.equals(terms.lease())", "terms.lease() != null"),
			new EngineBreakage("whoever handed off is told the loss", "GrantState",
					"return (current < 0 && ~current >> END_SHIFT == holdNumber) ? lossReason() : null;",
					"return lossReason();"),
			new EngineBreakage("whoever has taken an offer stays in the queue", "KeyHandOff",
					"if (begun[0] && waiter.queued) {", "if (begun[0] && waiter.queued && waiter.isComplete()) {"),
			new EngineBreakage("a grant that nobody wants any more is kept", "KeyHandOff",
					"\t\telse {\n" + "\t\t\tend(grant);\n" + "\t\t}", ""));

	@Override
	public String toString() {
		return this.name;
	}

}
