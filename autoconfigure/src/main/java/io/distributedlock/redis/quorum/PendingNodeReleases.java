package io.distributedlock.redis.quorum;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.redis.script.ScriptCall;

/**
 * Releases on one node of a quorum that no caller waits for: of an attempt that a
 * majority did not grant, and of a lock that a majority has released already.
 * <p>
 * An attempt without a reply may still be run later. Its release is confirmed by a reply
 * that the owner held the lock, or by any reply over the connection of the attempt, which
 * the server has run before. Otherwise it is repeated until the lock would have expired
 * twice. A full list drops an entry, which expires by itself.
 */
final class PendingNodeReleases {

	private static final Log logger = LogFactory.getLog(PendingNodeReleases.class);

	static final int CAPACITY = 10_000;

	/** The most commands in one round. */
	private static final int BATCH = 500;

	static final Duration PAUSE = Duration.ofMillis(500);

	private static final Duration SLACK = Duration.ofSeconds(60);

	/** How long the node may take for a reply. */
	private static final Duration TIMEOUT = Duration.ofSeconds(2);

	private final QuorumNode node;

	private final LockTimer timer;

	/** The releases by owner, those sent last at the end; guarded by the monitor. */
	private final Map<String, Release> releases = new LinkedHashMap<>();

	/** Whether a round is planned; guarded by the monitor. */
	private boolean scheduled;

	/** Whether the log says that releases are dropped; guarded by the monitor. */
	private boolean dropping;

	PendingNodeReleases(QuorumNode node, LockTimer timer) {
		this.node = node;
		this.timer = timer;
	}

	/**
	 * Releases a lock.
	 * @param attempt the attempt that the node may run later, or has run; {@code null} if
	 * it has granted the lock
	 */
	void add(ScriptCall script, @Nullable NodeCall attempt, Duration lease) {
		NodeCall unclear = (attempt != null && attempt.mayTakeEffect()) ? attempt : null;
		Release release = new Release(script, unclear, giveUp(lease));
		boolean warn;
		synchronized (this) {
			Release present = this.releases.get(release.owner);
			if (present != null && (present.attempt != null || unclear == null)) {
				return;
			}
			this.releases.remove(release.owner);
			warn = makeRoom();
			this.releases.put(release.owner, release);
		}
		if (warn) {
			logger.warn("More than " + CAPACITY + " releases wait for the node " + this.node.name()
					+ " of the Redis quorum; the oldest are dropped, and their locks expire there");
		}
		begin(release);
		schedule();
	}

	/** When a release is not needed any more, whatever became of its attempt. */
	static Deadline giveUp(Duration lease) {
		return Deadline.after(lease.multipliedBy(2).plus(SLACK));
	}

	synchronized int size() {
		return this.releases.size();
	}

	synchronized boolean contains(OwnerId owner) {
		return this.releases.containsKey(owner.text());
	}

	/**
	 * Sends the release of an attempt behind it, and so on the timer's thread: an event
	 * loop would pass what other threads have handed to it for the same connection.
	 */
	private void begin(Release release) {
		if (release.attempt == null || this.timer.trySchedule(() -> send(release), 0) == null) {
			send(release);
		}
	}

	/** Drops the oldest, and of an attempt without a reply if there is one. */
	private boolean makeRoom() {
		if (size() < CAPACITY) {
			return false;
		}
		Release oldest = this.releases.values()
			.stream()
			.filter((release) -> release.attempt != null)
			.findFirst()
			.orElseGet(() -> this.releases.values().iterator().next());
		this.releases.remove(oldest.owner);
		boolean warn = !this.dropping;
		this.dropping = true;
		return warn;
	}

	/** Plans a round. Without a thread for it, the next release tries again. */
	private synchronized void schedule() {
		if (!this.scheduled && !this.releases.isEmpty()) {
			this.scheduled = this.timer.trySchedule(this::repeat, PAUSE.toNanos()) != null;
		}
	}

	/** Sends the first that are not under way. The others get their turn afterwards. */
	private void repeat() {
		List<Release> due;
		synchronized (this) {
			this.scheduled = false;
			this.releases.values().removeIf((release) -> release.giveUp.isPast());
			due = this.releases.values().stream().filter((release) -> release.until.isPast()).limit(BATCH).toList();
			for (Release release : due) {
				this.releases.remove(release.owner);
				this.releases.put(release.owner, release);
			}
			this.dropping &= size() > CAPACITY / 2;
		}
		due.forEach(this::send);
		schedule();
	}

	private void send(Release release) {
		NodeCall call = new NodeCall(this.node);
		NodeCall former;
		synchronized (this) {
			former = release.call;
			release.call = call;
			release.until = Deadline.after(TIMEOUT);
		}
		if (former != null) {
			former.abandon();
		}
		call.call().onDone(() -> ended(release, call));
		call.send(release.script, CallKind.RELEASE, release.until);
	}

	private void ended(Release release, NodeCall call) {
		NodeCall attempt = release.attempt;
		boolean confirmed = call.hasFoundOwner() || (call.reply() != null
				&& (attempt == null || attempt.connectionsBefore() == this.node.connections()));
		synchronized (this) {
			if (confirmed) {
				this.releases.remove(release.owner, release);
			}
			if (release.call == call) {
				release.call = null;
				release.until = Deadline.now();
			}
		}
	}

	/** A release, compared by identity. What changes is guarded by the monitor. */
	private static final class Release {

		private final String owner;

		private final ScriptCall script;

		private final @Nullable NodeCall attempt;

		private final Deadline giveUp;

		/** The run that is under way. */
		private @Nullable NodeCall call;

		/** Until when it may be. */
		private Deadline until = Deadline.now();

		private Release(ScriptCall script, @Nullable NodeCall attempt, Deadline giveUp) {
			this.owner = new String(script.arguments()[0], 0, RedisLayout.ID_LENGTH, StandardCharsets.US_ASCII);
			this.script = script;
			this.attempt = attempt;
			this.giveUp = giveUp;
		}

	}

}
