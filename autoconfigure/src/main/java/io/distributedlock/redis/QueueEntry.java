package io.distributedlock.redis;

import io.distributedlock.redis.script.RedisLayout;

/**
 * What a contender knows of its last entry in the wait queue. Guarded by the contender's
 * monitor.
 */
public final class QueueEntry {

	/** The score, kept after a vain notification; 0 if there was no entry. */
	private long score;

	/** The creation of the value that had the entry, or 0 if it is not known. */
	private long created;

	/** The server's microsecond of the reply that showed the entry last. */
	private long seen;

	/** The header of the held lock that had the entry, or empty if it is not known. */
	private String header = "";

	String header() {
		return this.header;
	}

	long score() {
		return this.score;
	}

	/** Sets the score of an entry that a release has made. */
	void set(long kept) {
		this.score = kept;
		this.created = 0;
		this.header = "";
	}

	void clear() {
		set(0);
	}

	/**
	 * Records the reply to a busy attempt.
	 * @return whether the lock was reserved for this process since the last reply, in
	 * vain. An entry that ended with its value, or was dropped from a long queue, is no
	 * such case, nor is one whose process let pass the time that others wait for it at a
	 * shared lock without a notification.
	 */
	boolean update(AttemptReply reply) {
		boolean missed = reply.isEntryGone() && ((this.created != 0)
				? this.created == reply.created() && reply.micros() - this.seen < RedisLayout.LONGEST_TURN_MICROS
				: reply.created() <= this.score);
		if (reply.score() > 0) {
			this.score = reply.score();
			this.created = reply.created();
			this.seen = reply.micros();
		}
		this.header = (reply.score() > 0 && reply.isHeld()) ? reply.header() : "";
		return missed;
	}

}
