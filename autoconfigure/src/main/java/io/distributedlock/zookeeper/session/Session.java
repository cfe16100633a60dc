package io.distributedlock.zookeeper.session;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.SessionDeadline;

/**
 * Session with the ensemble, from its first connection until its end. ZooKeeper deletes
 * the nodes of a session when it ends.
 * <p>
 * Only the answers to writes prove how long a session lasts. A follower that is cut off
 * from the leader still answers reads while the leader expires the session; a write has
 * reached the leader. An answered write before it bounds when the leader last heard of
 * the session: since then the follower has reported it.
 * <p>
 * The server grants a time-out at each connection. The session is relied upon for the
 * smallest of them, because a new leader begins with the one that was granted first. It
 * also counts the bytes of the session's ephemeral paths. Safe for use by many threads.
 */
public final class Session implements SessionDeadline {

	private static final Log logger = LogFactory.getLog(Session.class);

	/**
	 * The limit for all ephemeral paths together: they go into the one transaction that
	 * closes the session, each with its length, and a server cannot read one beyond about
	 * 1 MB.
	 */
	public static final long MAX_PATH_BYTES = 1 << 20;

	private final ZooKeeper zooKeeper;

	private final long id;

	private final ZooKeeperOperations operations;

	private final SilenceWatch silence;

	/** The bytes of each path that its number of characters does not count. */
	private final int pathOverhead;

	private final Set<Runnable> signals = ConcurrentHashMap.newKeySet();

	/** Completes after the end of the session, which it reports once to each listener. */
	private final CompletableFuture<Boolean> end = new CompletableFuture<>();

	private final AtomicLong bytes = new AtomicLong();

	private final AtomicReference<Proof> proof;

	/** When the next write is sent that can prove the session. */
	private volatile long nextProofNanos = System.nanoTime();

	/** The time-out of the present or last connection. */
	private volatile long grantedTimeoutNanos;

	/** The last reading of the leader's clock. */
	private volatile Clock clock = new Clock(0, 0);

	private final AtomicBoolean ending = new AtomicBoolean();

	private volatile boolean ended;

	private volatile long endedAtNanos;

	/** Kept, because the state of a handle that is replaced changes. */
	private volatile boolean endedByRefusal;

	/**
	 * Creates a session that is not proven to last.
	 * @param pathOverhead the bytes that the servers store of each path beyond its number
	 * of characters here
	 */
	public Session(ZooKeeper zooKeeper, List<ACL> acl, int pathOverhead, @Nullable Duration longestSilence,
			LockTimer timer) {
		this.zooKeeper = zooKeeper;
		this.pathOverhead = pathOverhead;
		this.id = zooKeeper.getSessionId();
		this.grantedTimeoutNanos = TimeUnit.MILLISECONDS.toNanos(zooKeeper.getSessionTimeout());
		this.proof = new AtomicReference<>(
				new Proof(System.nanoTime() - this.grantedTimeoutNanos, this.grantedTimeoutNanos));
		this.silence = new SilenceWatch(zooKeeper, longestSilence, timer);
		this.operations = new ZooKeeperOperations(zooKeeper, acl, this::answered);
	}

	public ZooKeeper zooKeeper() {
		return this.zooKeeper;
	}

	public long id() {
		return this.id;
	}

	/** Returns the smallest time-out that the servers have granted. */
	long timeoutNanos() {
		return proof().timeoutNanos();
	}

	/** Returns for how long the servers keep the nodes of a process that has died. */
	public long grantedTimeoutNanos() {
		return this.grantedTimeoutNanos;
	}

	public ZooKeeperOperations operations() {
		return this.operations;
	}

	boolean isOf(ZooKeeper handle) {
		return this.zooKeeper == handle && handle.getSessionId() == this.id;
	}

	public boolean isConnected() {
		return !this.ended && this.zooKeeper.getState().isConnected();
	}

	/** Returns whether the servers have refused the client's credentials. */
	public boolean isRefused() {
		return this.endedByRefusal || this.zooKeeper.getState() == ZooKeeper.States.AUTH_FAILED;
	}

	/** Returns whether the handle can still be used for requests. */
	public boolean isAlive() {
		return this.zooKeeper.getState().isAlive();
	}

	/** Records the code of an answer, which may be that of a lost connection. */
	public void answered(Code code) {
		if (code == Code.SESSIONEXPIRED || code == Code.AUTHFAILED) {
			handleClosed();
		}
		else {
			this.silence.answered(code);
		}
	}

	/** Records that a call was not answered in time. */
	public void callTimedOut(long sentAtNanos) {
		this.silence.callTimedOut(sentAtNanos);
	}

	/** Returns the silence of the session's connections. */
	SilenceWatch silence() {
		return this.silence;
	}

	/**
	 * Records an answered write, which may move the session's deadline.
	 * @param heardAfterNanos a moment after which the leader has heard of this session
	 * @param serverTimeMillis the leader's clock at the write
	 */
	void confirm(long heardAfterNanos, long serverTimeMillis) {
		if (!this.ended) {
			this.proof.updateAndGet((before) -> before.heardAfter(heardAfterNanos));
		}
		this.clock = new Clock(serverTimeMillis, System.nanoTime());
	}

	private Proof proof() {
		return Objects.requireNonNull(this.proof.get());
	}

	/**
	 * Reads the time-out that the server has granted with the present connection. A
	 * smaller one brings the session's deadline forward.
	 */
	void readTimeout() {
		long grantedNanos = TimeUnit.MILLISECONDS.toNanos(this.zooKeeper.getSessionTimeout());
		if (grantedNanos <= 0) {
			return;
		}
		this.grantedTimeoutNanos = grantedNanos;
		Proof before = this.proof.getAndUpdate((present) -> present.withTimeout(grantedNanos));
		if (grantedNanos < Objects.requireNonNull(before).timeoutNanos()) {
			this.signals.forEach(Runnable::run);
		}
	}

	@Override
	public long until() {
		long provenNanos = proof().untilNanos();
		return (this.ended && provenNanos - this.endedAtNanos > 0) ? this.endedAtNanos : provenNanos;
	}

	@Override
	public void onShortened(Runnable signal) {
		this.signals.add(signal);
		if (this.ended) {
			runOnce(signal);
		}
	}

	/**
	 * Registers a listener for the end of the session.
	 * @param listener what to run once, or at once if the session has ended; must not
	 * block
	 */
	void onEnded(Runnable listener) {
		this.end.thenRun(listener).whenComplete((none, failure) -> {
			if (failure != null) {
				logger.error("What follows the end of a session has failed", failure);
			}
		});
	}

	/**
	 * Records when the next write is sent that can prove the session.
	 * @param nanos an instant by {@link System#nanoTime()}
	 */
	void expectProof(long nanos) {
		this.nextProofNanos = nanos;
	}

	/**
	 * Returns whether the session is proven to last until the answer to the next write:
	 * locks are acquired in such a session only, for others would soon be lost.
	 */
	public boolean isValid() {
		long now = System.nanoTime();
		long next = this.nextProofNanos;
		Proof present = proof();
		return !this.ended && present.untilNanos() - ((next - now > 0) ? next : now) > present.timeoutNanos() / 20;
	}

	public boolean hasEnded() {
		return this.ended;
	}

	/**
	 * Records that the handle was closed, which ends the session unless the handle has
	 * kept it.
	 */
	void handleClosed() {
		if (!isKept()) {
			end();
		}
	}

	/** Returns whether the handle was closed without the end of its session. */
	boolean isKept() {
		return this.zooKeeper instanceof LockZooKeeper handle && handle.hasKeptSession();
	}

	/**
	 * Lets the servers keep this session until its time-out has passed if the handle is
	 * closed while a condition holds. That is possible only for a client that was built
	 * with the {@link LockZookeeperFactory}.
	 */
	public void keepWhile(BooleanSupplier condition) {
		if (this.zooKeeper instanceof LockZooKeeper handle) {
			handle.keepSessionWhile(condition);
		}
	}

	/** Ends the session: ZooKeeper has deleted its nodes, or will. */
	public void end() {
		if (!this.ending.compareAndSet(false, true)) {
			return;
		}
		this.endedAtNanos = System.nanoTime();
		this.endedByRefusal = this.zooKeeper.getState() == ZooKeeper.States.AUTH_FAILED;
		this.ended = true;
		this.signals.forEach(this::runOnce);
		this.end.complete(true);
	}

	/** Removes and runs a signal, on the thread that comes first. */
	private void runOnce(Runnable signal) {
		if (this.signals.remove(signal)) {
			signal.run();
		}
	}

	/**
	 * Returns the time since a time of the leader's clock; 0 if that is in the future.
	 */
	public long millisSince(long serverTimeMillis) {
		Clock read = this.clock;
		long now = read.serverTimeMillis() + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - read.readAtNanos());
		return Math.max(0, now - serverTimeMillis);
	}

	/**
	 * Counts the bytes of a path.
	 * @param length the number of its characters
	 * @return {@code false} if the session has no room for it
	 */
	public boolean tryAllocate(int length) {
		if (this.bytes.addAndGet(length + this.pathOverhead) <= MAX_PATH_BYTES) {
			return true;
		}
		free(length);
		return false;
	}

	/** Counts the bytes of a path that exists, whether there is room for it or not. */
	public void allocate(int length) {
		this.bytes.addAndGet(length + this.pathOverhead);
	}

	/** Returns the counted bytes of all paths. */
	public long bytes() {
		return this.bytes.get();
	}

	public void free(int length) {
		this.bytes.addAndGet(-length - this.pathOverhead);
	}

	/**
	 * Proof of how long the session lasts.
	 *
	 * @param heardAfterNanos a moment after which the leader has heard of the session
	 * @param timeoutNanos how long the session lasts after that
	 */
	private record Proof(long heardAfterNanos, long timeoutNanos) {

		private static final long MARGIN_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

		/** Returns the end of the session, minus a margin for the drift of clocks. */
		long untilNanos() {
			return this.heardAfterNanos + this.timeoutNanos - this.timeoutNanos / 200 - MARGIN_NANOS;
		}

		Proof heardAfter(long nanos) {
			return (nanos - this.heardAfterNanos > 0) ? new Proof(nanos, this.timeoutNanos) : this;
		}

		Proof withTimeout(long nanos) {
			return (nanos < this.timeoutNanos) ? new Proof(this.heardAfterNanos, nanos) : this;
		}

	}

	/**
	 * Reading of the leader's clock, used only to report how long a lock has been held.
	 */
	private record Clock(long serverTimeMillis, long readAtNanos) {
	}

}
