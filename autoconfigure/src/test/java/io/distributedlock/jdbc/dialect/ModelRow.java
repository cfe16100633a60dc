package io.distributedlock.jdbc.dialect;

import java.util.Random;

import org.jspecify.annotations.Nullable;

import io.distributedlock.jdbc.dialect.LockRow.QueueEntry;

/**
 * A row of the lock table and the rule that changes it, in Java: what the statements of
 * all dialects are compared with. Times are in microseconds since 1970.
 * <p>
 * An entry of no process may have an end; that of a process may have none, after the
 * first attempt of all.
 */
record ModelRow(String owner, long order, String holder, long acquiredAt, long expiresAt, Entry first, Entry second) {

	private static final Entry EMPTY = new Entry(LockRow.NONE, 0, 0);

	/** Returns a random row whose times differ from now by seconds. */
	static ModelRow random(Random random, long now, String[] owners, String[] processes) {
		String owner = owners[random.nextInt(owners.length)];
		long order = random.nextInt(4) == 0 ? now + 3_600_000_000L : now - 50_000_000;
		Entry first = entry(random, now, processes);
		// So it is after the first attempt of all.
		Entry fresh = new Entry(first.process(), 0, 0);
		return new ModelRow(owner, order, "host", now - 200_000_000, now + seconds(random),
				(random.nextInt(8) == 0) ? fresh : first, entry(random, now, processes));
	}

	private static Entry entry(Random random, long now, String[] processes) {
		return new Entry(processes[random.nextInt(processes.length)], now - 1_000_000L * (1 + random.nextInt(4)),
				now + seconds(random));
	}

	private static long seconds(Random random) {
		return (random.nextInt(4) > 0 ? 1 : -1) * 100_000_000L;
	}

	boolean isAcquirableBy(String process, long now) {
		return this.owner.equals(LockRow.FREE) || this.owner.equals(LockRow.RESERVED + process)
				|| this.expiresAt <= now;
	}

	/** Returns the row after an attempt. */
	ModelRow attempt(RowAttempt attempt, long now, long entryMicros) {
		String process = attempt.process();
		if (isAcquirableBy(process, now)) {
			return new ModelRow(attempt.owner(), Math.max(this.order + 1, now), attempt.holder(), now,
					now + attempt.leaseMicros(), this.first.without(process), this.second.without(process));
		}
		if (!attempt.willWait() || attempt.owner().equals(this.owner)) {
			return this;
		}
		long since = (attempt.sinceMicros() != null) ? attempt.sinceMicros() : now;
		Entry own = new Entry(process, since, now + entryMicros);
		if (this.first.isOpenTo(process, since, now, false)) {
			boolean displaced = !this.first.isEmpty() && !process.equals(this.first.process())
					&& this.first.isValid(now) && this.second.isOpenTo(process, this.first.since(), now, true);
			return with(own, displaced ? this.first : this.second.without(process));
		}
		return this.second.isOpenTo(process, since, now, true) ? with(this.first, own) : this;
	}

	private ModelRow with(Entry newFirst, Entry newSecond) {
		return new ModelRow(this.owner, this.order, this.holder, this.acquiredAt, this.expiresAt, newFirst, newSecond);
	}

	/** Returns the row after a release by its owner. */
	ModelRow release(String process, long now, long reservationMicros) {
		boolean reserve = !this.first.isEmpty() && !process.equals(this.first.process()) && this.first.isValid(now);
		boolean next = !this.second.isEmpty() && !process.equals(this.second.process()) && this.second.isValid(now);
		return new ModelRow(reserve ? LockRow.RESERVED + this.first.process() : LockRow.FREE, this.order, this.holder,
				this.acquiredAt, reserve ? now + reservationMicros : now, next ? this.second : EMPTY, EMPTY);
	}

	/** Returns the row after a release by its owner within a shortest hold. */
	ModelRow keep(long now, long keepMicros) {
		return new ModelRow(LockRow.KEPT, this.order, this.holder, this.acquiredAt, now + keepMicros, this.first,
				this.second);
	}

	/** Returns the row without the entries of a process. */
	ModelRow withoutEntriesOf(String process) {
		return with(this.first.without(process), this.second.without(process));
	}

	/** Returns the row as a statement sees it. */
	LockRow seen(long now) {
		return new LockRow(this.owner, this.order, this.holder, now - this.acquiredAt, this.expiresAt - now, now,
				this.first.seen(now), this.second.seen(now));
	}

	/**
	 * Entry of the wait queue, valid or not.
	 *
	 * @param process the process, or {@link LockRow#NONE}
	 * @param since when it was first refused
	 * @param until until when the entry is valid
	 */
	record Entry(String process, long since, long until) {

		boolean isEmpty() {
			return this.process.equals(LockRow.NONE);
		}

		boolean isValid(long now) {
			return this.until > now;
		}

		/**
		 * Whether a process that was refused at an instant may take the entry.
		 * @param same whether it may also displace a process that was refused at the same
		 * instant
		 */
		boolean isOpenTo(String newProcess, long newSince, long now, boolean same) {
			boolean later = (this.since > newSince || (same && this.since == newSince));
			return isEmpty() || this.process.equals(newProcess) || !isValid(now) || later;
		}

		Entry without(String removed) {
			return removed.equals(this.process) ? new Entry(LockRow.NONE, this.since, this.until) : this;
		}

		@Nullable QueueEntry seen(long now) {
			return (!isEmpty() && isValid(now)) ? new QueueEntry(this.process, this.since, this.until - now) : null;
		}

	}

}
