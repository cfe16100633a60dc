package io.distributedlock.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;

/**
 * Releases on one node of a quorum that no caller waits for: of an attempt that a
 * majority did not grant, and of a lock that a majority has released already.
 * <p>
 * An attempt without a reply may still be run later. Its release is confirmed by a reply
 * that the owner held the lock, or by any reply over the connection of the attempt, which
 * the server has run before. Otherwise it is repeated until the lock would have expired
 * twice. A full list drops its oldest entry, which expires by itself.
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

	private static final long NO_CONNECTION = -1;

	private final QuorumNode node;

	private final RedisTimer timer;

	/** The releases that are not confirmed, oldest first; guarded by the monitor. */
	private final Map<Release, Boolean> open = new LinkedHashMap<>();

	/** Whether a round is planned; guarded by the monitor. */
	private boolean scheduled;

	PendingNodeReleases(QuorumNode node, RedisTimer timer) {
		this.node = node;
		this.timer = timer;
	}

	/** Releases a lock that the node has granted. */
	void addGranted(ScriptCall script, Duration lease) {
		add(new Release(script, true, NO_CONNECTION, giveUp(lease)));
	}

	/**
	 * Releases a lock that the node may grant or have granted.
	 * @param attempt the attempt without a reply
	 */
	void addUnclear(ScriptCall script, NodeCall attempt, Duration lease) {
		add(new Release(script, false, attempt.connectionsBefore(), giveUp(lease)));
	}

	private static Deadline giveUp(Duration lease) {
		return Deadline.after(lease.multipliedBy(2).plus(SLACK));
	}

	synchronized int size() {
		return this.open.size();
	}

	private void add(Release release) {
		synchronized (this) {
			if (this.open.size() >= CAPACITY) {
				Iterator<Release> oldest = this.open.keySet().iterator();
				oldest.next();
				oldest.remove();
			}
			this.open.put(release, Boolean.TRUE);
		}
		send(release);
		schedule();
	}

	private void schedule() {
		synchronized (this) {
			if (this.scheduled || this.open.isEmpty()) {
				return;
			}
			this.scheduled = true;
		}
		this.timer.schedule(this::repeat, PAUSE.toNanos());
	}

	private void repeat() {
		List<Release> due = new ArrayList<>();
		synchronized (this) {
			this.scheduled = false;
			this.open.keySet().removeIf((release) -> release.giveUp.isPast());
			for (Release release : this.open.keySet()) {
				if (due.size() < BATCH) {
					due.add(release);
				}
			}
			// The others get their turn in the next round.
			due.forEach((release) -> {
				this.open.remove(release);
				this.open.put(release, Boolean.TRUE);
			});
		}
		due.forEach(this::send);
		schedule();
	}

	private void send(Release release) {
		NodeCall call = new NodeCall(this.node);
		call.call().onDone(() -> ended(release, call));
		call.send(release.script, CallKind.RELEASE, Deadline.after(TIMEOUT));
	}

	private void ended(Release release, NodeCall call) {
		try {
			boolean released = call.call().result().number(0) == 1;
			boolean sameConnection = release.connection == this.node.connections();
			if (released || release.seen || sameConnection) {
				synchronized (this) {
					this.open.remove(release);
				}
			}
		}
		catch (RuntimeException ex) {
			logger.trace("The node " + this.node.name() + " has not confirmed a release; it is repeated", ex);
		}
	}

	/** A release, compared by identity. */
	private static final class Release {

		private final ScriptCall script;

		private final boolean seen;

		private final long connection;

		private final Deadline giveUp;

		private Release(ScriptCall script, boolean seen, long connection, Deadline giveUp) {
			this.script = script;
			this.seen = seen;
			this.connection = connection;
			this.giveUp = giveUp;
		}

	}

}
