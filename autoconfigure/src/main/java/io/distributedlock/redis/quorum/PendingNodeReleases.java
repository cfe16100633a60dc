package io.distributedlock.redis.quorum;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.redis.script.RedisTimer;
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

	private final RedisTimer timer;

	/**
	 * The releases, by owner, of attempts without a reply, oldest first; guarded by the
	 * monitor. An owner is here or below.
	 */
	private final Map<String, Release> unclear = new LinkedHashMap<>();

	/** The releases of locks that were granted; guarded by the monitor too. */
	private final Map<String, Release> granted = new LinkedHashMap<>();

	/** Whether a round is planned; guarded by the monitor. */
	private boolean scheduled;

	/** Whether the log says that releases are dropped; guarded by the monitor. */
	private boolean dropping;

	PendingNodeReleases(QuorumNode node, RedisTimer timer) {
		this.node = node;
		this.timer = timer;
	}

	/** Releases a lock that the node has granted. */
	void addGranted(ScriptCall script, Duration lease) {
		add(new Release(script, null, giveUp(lease)));
	}

	/**
	 * Releases a lock that the node may grant or have granted.
	 * @param attempt the attempt without a reply
	 */
	void addUnclear(ScriptCall script, NodeCall attempt, Duration lease) {
		add(new Release(script, attempt, giveUp(lease)));
	}

	/** When a release is not needed any more, whatever became of its attempt. */
	static Deadline giveUp(Duration lease) {
		return Deadline.after(lease.multipliedBy(2).plus(SLACK));
	}

	synchronized int size() {
		return this.unclear.size() + this.granted.size();
	}

	synchronized boolean contains(OwnerId owner) {
		return this.unclear.containsKey(owner.text()) || this.granted.containsKey(owner.text());
	}

	private void add(Release release) {
		String owner = release.owner();
		boolean warn;
		synchronized (this) {
			if (this.unclear.containsKey(owner) || (release.attempt == null && this.granted.containsKey(owner))) {
				return;
			}
			this.granted.remove(owner);
			warn = makeRoom();
			map(release).put(owner, release);
		}
		if (warn) {
			logger.warn("More than " + CAPACITY + " releases wait for the node " + this.node.name()
					+ " of the Redis quorum; the oldest are dropped, and their locks expire there");
		}
		begin(release);
		schedule();
	}

	/**
	 * Sends the release of an attempt behind it, and so on the timer's thread: an event
	 * loop would pass what other threads have handed to it for the same connection.
	 */
	private void begin(Release release) {
		if (release.attempt == null || this.timer.schedule(() -> send(release), 0) == null) {
			send(release);
		}
	}

	private Map<String, Release> map(Release release) {
		return (release.attempt != null) ? this.unclear : this.granted;
	}

	/** Drops the oldest, and of an attempt without a reply if there is one. */
	private boolean makeRoom() {
		if (size() < CAPACITY) {
			return false;
		}
		Iterator<Release> oldest = (this.unclear.isEmpty() ? this.granted : this.unclear).values().iterator();
		oldest.next();
		oldest.remove();
		boolean warn = !this.dropping;
		this.dropping = true;
		return warn;
	}

	private void schedule() {
		synchronized (this) {
			if (this.scheduled || size() == 0) {
				return;
			}
			this.scheduled = true;
		}
		if (this.timer.schedule(this::repeat, PAUSE.toNanos()) == null) {
			// The next release tries again.
			synchronized (this) {
				this.scheduled = false;
			}
		}
	}

	private void repeat() {
		List<Release> due = new ArrayList<>();
		synchronized (this) {
			this.scheduled = false;
			takeDue(this.granted, BATCH / 2, due);
			takeDue(this.unclear, BATCH, due);
			this.dropping &= size() > CAPACITY / 2;
		}
		due.forEach(this::send);
		schedule();
	}

	/** Takes the first that are not under way. The others get their turn afterwards. */
	private static void takeDue(Map<String, Release> releases, int most, List<Release> due) {
		releases.values().removeIf((release) -> release.giveUp.isPast());
		List<Release> taken = releases.values()
			.stream()
			.filter((release) -> release.until.isPast())
			.limit(Math.max(most - due.size(), 0))
			.toList();
		taken.forEach((release) -> {
			releases.remove(release.owner());
			releases.put(release.owner(), release);
		});
		due.addAll(taken);
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
		boolean confirmed = false;
		try {
			boolean released = call.call().result().number(0) == 1;
			NodeCall attempt = release.attempt;
			confirmed = released || attempt == null || attempt.connectionsBefore() == this.node.connections();
		}
		catch (RuntimeException ex) {
			logger.trace("The node " + this.node.name() + " has not confirmed a release; it is repeated", ex);
		}
		synchronized (this) {
			if (confirmed) {
				map(release).remove(release.owner(), release);
			}
			if (release.call == call) {
				release.call = null;
				release.until = Deadline.after(Duration.ZERO);
			}
		}
	}

	/** A release, compared by identity. What changes is guarded by the monitor. */
	private static final class Release {

		private final ScriptCall script;

		private final @Nullable NodeCall attempt;

		private final Deadline giveUp;

		/** The run that is under way. */
		private @Nullable NodeCall call;

		/** Until when it may be. */
		private Deadline until = Deadline.after(Duration.ZERO);

		private Release(ScriptCall script, @Nullable NodeCall attempt, Deadline giveUp) {
			this.script = script;
			this.attempt = attempt;
			this.giveUp = giveUp;
		}

		private String owner() {
			return new String(this.script.arguments()[0], StandardCharsets.US_ASCII);
		}

	}

}
