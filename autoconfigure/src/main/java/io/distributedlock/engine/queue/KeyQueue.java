package io.distributedlock.engine.queue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.engine.concurrent.Nanos;
import io.distributedlock.engine.grant.GrantQueue;
import io.distributedlock.engine.grant.HeldGrant;
import io.distributedlock.engine.grant.Hold;
import io.distributedlock.engine.grant.RequestOutcome;
import io.distributedlock.engine.release.ShareKey;
import io.distributedlock.provider.LockGrant;

/**
 * The local queue of one key, in which each request finds out what to do next. Of all
 * requests of this process only the head attempts to acquire the key in the store, and
 * none does while this process has a grant. Shares have a queue for each limit.
 * <p>
 * Each event is one call: a request arrives, is due, or leaves; an attempt ends; a grant
 * ends; the store notifies.
 * <p>
 * Invariants: there is at most one attempt and at most one grant, and never both; while
 * there is neither, or the grant is offered, the head of the waiters is signalled, or
 * knows when it is due; a queue that has none of all these, and no shares, is closed.
 */
final class KeyQueue implements GrantQueue {

	/** How long a request waits at most for a signal that is on its way. */
	private static final long SIGNAL_NANOS = Duration.ofSeconds(10).toNanos();

	final LockKey key;

	/** The key, or what names its shares with a limit. */
	final Object shareKey;

	private final KeyQueueRegistry queues;

	/** Guards the fields below. Shared with other keys: it is never held for long. */
	final QueueMutex mutex;

	/** Kept only while there are any; also read without the lock. */
	volatile @Nullable WaiterQueue waiters;

	/** Kept only while there are waiters or an attempt. */
	private @Nullable KeyContest contest;

	/** The grant of the whole key; in a queue for shares there is never one. */
	private @Nullable HeldGrant grant;

	/** Kept only in a queue for shares. */
	final @Nullable KeyShares shares;

	private boolean closed;

	KeyQueue(LockKey key, int limit, KeyQueueRegistry queues) {
		this.key = key;
		this.shareKey = ShareKey.of(key, limit);
		this.shares = (limit > 0) ? new KeyShares(this, limit) : null;
		this.queues = queues;
		this.mutex = queues.engine.locks().lock(key);
	}

	EngineContext engine() {
		return this.queues.engine;
	}

	@Nullable KeyRequest head() {
		WaiterQueue present = this.waiters;
		return (present != null) ? present.head() : null;
	}

	@Nullable HeldGrant grant() {
		return this.grant;
	}

	/**
	 * Makes the turn of a request that takes the answer to its first attempt itself. The
	 * request enters the queue, before all others, if the answer is not a grant or does
	 * not come in time.
	 */
	KeyRequest.Turn turnOfFirst(KeyRequest request, StoreAttempt first) {
		if (!first.handleAnswer() && !Nanos.isPast(first.deadlineNanos(), engine().nanoTime())
				&& !engine().stopState().isStopping()) {
			return request.await(first.deadlineNanos());
		}
		return request.isComplete() ? KeyRequest.Turn.DONE : turnAfterFirst(request, first);
	}

	private KeyRequest.Turn turnAfterFirst(KeyRequest request, StoreAttempt first) {
		this.mutex.lock();
		try {
			enter(first);
		}
		finally {
			this.mutex.unlock();
		}
		// Whoever answers between the last look and the entry leaves it to this thread.
		first.handleAnswer();
		return turn(request);
	}

	/**
	 * Leaves a first attempt to the queue, which its requester enters. Has no effect on
	 * an attempt that is the queue's already. Until then it is the only attempt of this
	 * queue, which has no grant and cannot be closed.
	 */
	void enter(StoreAttempt attempt) {
		if (!attempt.isFirst()) {
			return;
		}
		KeyRequest request = attempt.requester();
		if (!request.queued && !request.isComplete()) {
			waiters().addFirst(request);
		}
		attempt.leaveToQueue();
	}

	/** Adds a request to the end of the queue, and makes its first turn. */
	KeyRequest.Turn arrive(KeyRequest request) {
		this.mutex.lock();
		try {
			if (this.closed) {
				return KeyRequest.Turn.CLOSED;
			}
			long now = engine().nanoTime();
			if ((this.grant != null && new HandOff(this, this.grant).pickUpOnArrival(request, now))
					|| (this.shares != null && this.shares.join(request, now))) {
				return KeyRequest.Turn.DONE;
			}
			waiters().add(request);
			contest().answers().recordArrival(request);
			return decide(request, now);
		}
		finally {
			this.mutex.unlock();
		}
	}

	/** Decides what a request does now. */
	KeyRequest.Turn turn(KeyRequest request) {
		while (!request.isComplete()) {
			StoreAttempt answered;
			this.mutex.lock();
			try {
				answered = attempt();
				if (answered == null || !answered.isFirst() || answered.doneCall() == null) {
					return decide(request, engine().nanoTime());
				}
			}
			finally {
				this.mutex.unlock();
			}
			// A requester that is slow to take its answer holds up nobody.
			answered.handleAnswer();
		}
		return KeyRequest.Turn.DONE;
	}

	private KeyRequest.Turn decide(KeyRequest request, long now) {
		if (request.queued && engine().stopState().isStopping()) {
			return end(request, new RequestOutcome.Failed(engine().failures().shuttingDown(this.key)));
		}
		if (request.queued && this.contest != null) {
			this.contest.giveUpIfOverdue(now);
		}
		if (!request.queued) {
			return request.isComplete() ? KeyRequest.Turn.DONE : request.await(now + SIGNAL_NANOS);
		}
		if (this.grant != null && new HandOff(this, this.grant).pickUpAsHead(request, now)) {
			return KeyRequest.Turn.DONE;
		}
		boolean mayWait = request.budget().mayWait(now);
		RequestOutcome known = mayWait ? null : known(request, now);
		if (known != null) {
			return end(request, known);
		}
		if (request.budget().isOver(now)) {
			return end(request, contest().answers().end(request, contest().unanswered()));
		}
		StoreAttempt attempt = attempt();
		if (attempt != null && attempt.isPrepared() && request.mayBlock()) {
			// The head may be without a thread, and this request has one.
			return KeyRequest.Turn.SEND;
		}
		if (this.grant == null && head() == request) {
			return (attempt != null) ? awaitAttempt(attempt, request, mayWait) : prepareAttempt(request, mayWait, now);
		}
		if (!mayWait) {
			addOverdue(request);
		}
		return request.await(request.budget().nextDeadlineNanos(mayWait));
	}

	/** What a request whose wait time is over can conclude without an attempt. */
	private @Nullable RequestOutcome known(KeyRequest request, long now) {
		if (this.grant != null) {
			return new RequestOutcome.Busy(this.grant.process(now));
		}
		KeyAnswers answers = contest().answers();
		if (!answers.areNewFor(request)) {
			return null;
		}
		RequestOutcome latest = answers.latest();
		return (latest instanceof RequestOutcome.Failed failed) ? engine().failures().again(this.key, failed) : latest;
	}

	/** Lets the head wait for the attempt, at most until it is overdue. */
	private KeyRequest.Turn awaitAttempt(StoreAttempt current, KeyRequest first, boolean mayWait) {
		if (!mayWait && current.isFirst()) {
			// Its grant is for somebody else.
			contest().answers().addOverdue(first);
		}
		long end = first.budget().nextDeadlineNanos(mayWait);
		return first.await(engine().isBlocking() ? end : Nanos.earlier(end, current.deadlineNanos()));
	}

	private KeyRequest.Turn prepareAttempt(KeyRequest first, boolean mayWait, long now) {
		if (mayWait && !contest().pacing().isDue(now)) {
			return first.await(Nanos.earlier(first.budget().waitUntilNanos(), contest().pacing().retryAtNanos()));
		}
		contest().prepare(first, mayWait);
		first.await(first.budget().endNanos());
		return KeyRequest.Turn.SEND;
	}

	/**
	 * Adds a request that ends with the next answer of the store, for which the head asks
	 * at once.
	 */
	private void addOverdue(KeyRequest request) {
		contest().answers().addOverdue(request);
		if (this.grant == null && attempt() == null && contest().pacing().endPauseWhileBusy()) {
			signalHeadOrClose();
		}
	}

	/** Runs an action, without the lock, on the contest if there still is one. */
	void withContest(Consumer<KeyContest> action) {
		KeyContest present;
		this.mutex.lock();
		try {
			present = this.contest;
		}
		finally {
			this.mutex.unlock();
		}
		if (present != null) {
			action.accept(present);
		}
	}

	/**
	 * Removes a request whose requester has left; does nothing for one that has ended.
	 * @param first the attempt whose answer the requester takes itself, if any
	 */
	void leave(KeyRequest request, @Nullable StoreAttempt first) {
		this.mutex.lock();
		try {
			if (first != null) {
				first.leaveToQueue();
				if (attempt() == first) {
					first.contest().headLeft();
				}
			}
			if (request.queued) {
				end(request, new RequestOutcome.Abandoned());
			}
		}
		finally {
			this.mutex.unlock();
		}
		if (first != null) {
			first.handleAnswer();
			first.contest().dropUnsent(first);
		}
	}

	/** Removes a request, and tells it its outcome. */
	void tell(KeyRequest request, RequestOutcome outcome) {
		remove(request, outcome);
		this.mutex.follow(request::signal);
	}

	private void remove(KeyRequest request, RequestOutcome outcome) {
		boolean wasHead = head() == request;
		waiters().remove(request);
		request.complete(outcome);
		if (wasHead && this.contest != null) {
			this.contest.headLeft();
		}
		if (head() == null) {
			this.mutex.follow(engine().stopState()::recordProgress);
		}
		signalHeadOrClose();
	}

	private KeyRequest.Turn end(KeyRequest request, RequestOutcome outcome) {
		boolean wasHead = head() == request;
		remove(request, outcome);
		if (wasHead && this.grant != null) {
			new HandOff(this, this.grant).passOn();
		}
		return KeyRequest.Turn.DONE;
	}

	/** Lets the head go on after an event; closes the queue if nothing is left. */
	void signalHeadOrClose() {
		if (this.closed || this.grant != null || attempt() != null) {
			return;
		}
		KeyRequest first = head();
		if (first != null) {
			this.mutex.follow(first::signal);
			return;
		}
		endContest();
		if (this.shares != null && !this.shares.isEmpty()) {
			return;
		}
		this.closed = true;
		// Under the lock, so that whoever finds this queue closed finds another one next.
		this.queues.remove(this);
		if (engine().stopState().isStopping()) {
			this.mutex.follow(engine().stopState()::recordProgress);
		}
	}

	/**
	 * Puts a grant and its hold in place in one step, so that nothing can come between.
	 * @param current the attempt that was granted
	 * @param next the request that gets the grant
	 * @return why the grant cannot be used, or {@code null}
	 */
	@Nullable LockProviderException begin(LockGrant granted, StoreAttempt current, KeyRequest next, long now) {
		HeldGrant held = KeyShares.newGrant(this, granted, current, next, now);
		LockProviderException refusal = held.refusal(engine().provider().name(), now);
		if (refusal != null) {
			return refusal;
		}
		Hold hold = new Hold(engine().heldGrants(), held, 0, next.requester(), now);
		if (this.shares != null) {
			this.shares.keep(held);
		}
		// Kept before the grant is put in place: one that does not begin would remain.
		this.mutex.follow(() -> next.begin(hold));
		this.grant = (this.shares != null) ? null : held;
		// The requester is told by the hold that begins, and enters no queue.
		current.give();
		contest().recordGrant();
		removeHolder(next);
		if (this.shares != null) {
			this.shares.began(held, now);
		}
		return null;
	}

	/** Removes the request that holds the present grant. */
	void removeHolder(KeyRequest request) {
		if (request.queued) {
			waiters().remove(request);
		}
		if (head() == null) {
			endContest();
			this.waiters = null;
		}
	}

	private void endContest() {
		if (this.contest != null) {
			this.contest.end();
			this.contest = null;
		}
	}

	@Override
	public void ended(HeldGrant heldGrant) {
		this.mutex.lock();
		try {
			if (this.shares != null) {
				this.shares.ended(heldGrant);
			}
			else if (this.grant == heldGrant) {
				this.grant = null;
				if (this.contest != null) {
					// Whoever has come since the grant knows that the lock was busy.
					this.contest.answers().record(new RequestOutcome.Busy(null), this.mutex);
					this.contest.pacing().recordEnd();
				}
				signalHeadOrClose();
			}
		}
		finally {
			this.mutex.unlock();
		}
		engine().stopState().recordProgress();
	}

	/** Most releases find nobody who waits, without the lock. */
	@Override
	public boolean offerToNext(HeldGrant heldGrant, int holdNumber) {
		if (this.waiters == null) {
			return false;
		}
		this.mutex.lock();
		try {
			return this.grant == heldGrant && new HandOff(this, heldGrant).offer(holdNumber);
		}
		finally {
			this.mutex.unlock();
		}
	}

	/**
	 * Lets the head attempt, because the key may be free. The attempt of a thread that
	 * would have to wake up first is sent by the caller, such as a thread of the store's
	 * client, if that does not block.
	 */
	void notified() {
		KeyContest prepared = null;
		this.mutex.lock();
		try {
			KeyRequest first = head();
			if (this.contest != null) {
				this.contest.pacing().recordNotified();
			}
			if (this.contest != null && this.grant == null && attempt() == null && first != null && maySendFor(first)) {
				this.contest.prepare(first, true);
				prepared = this.contest;
			}
			else {
				signalHeadOrClose();
			}
		}
		finally {
			this.mutex.unlock();
		}
		if (prepared != null) {
			prepared.send(null);
		}
	}

	private boolean maySendFor(KeyRequest first) {
		return first.mayBlock() && !engine().isBlocking() && !engine().stopState().isStopping()
				&& first.budget().mayWait(engine().nanoTime());
	}

	/** Returns the requests that wait, in their order. */
	List<KeyRequest> requests() {
		this.mutex.lock();
		try {
			StoreAttempt attempt = attempt();
			List<KeyRequest> all = (this.waiters != null) ? this.waiters.all() : new ArrayList<>();
			if (attempt != null && attempt.isFirst()) {
				all.add(0, attempt.requester());
			}
			return all;
		}
		finally {
			this.mutex.unlock();
		}
	}

	/** Whether any request waits, or an attempt is under way. */
	boolean hasWaiters() {
		this.mutex.lock();
		try {
			return head() != null || attempt() != null;
		}
		finally {
			this.mutex.unlock();
		}
	}

	KeyContest contest() {
		if (this.contest == null) {
			this.contest = new KeyContest(this, engine(), this.mutex);
		}
		return this.contest;
	}

	private @Nullable StoreAttempt attempt() {
		return (this.contest != null) ? this.contest.attempt() : null;
	}

	private WaiterQueue waiters() {
		if (this.waiters == null) {
			this.waiters = new WaiterQueue();
		}
		return this.waiters;
	}

}
