package io.distributedlock.sample;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import org.jspecify.annotations.Nullable;

/**
 * Report of a worker to the control process, sent as one line of JSON behind a
 * {@link #MARK} on its standard output. A frozen or dead worker is silent.
 */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "report")
@JsonSubTypes({ @JsonSubTypes.Type(value = WorkerReport.Ready.class, name = "ready"),
		@JsonSubTypes.Type(value = WorkerReport.Locks.class, name = "locks"),
		@JsonSubTypes.Type(value = WorkerReport.Incident.class, name = "incident"),
		@JsonSubTypes.Type(value = WorkerReport.Done.class, name = "done") })
public sealed interface WorkerReport {

	/** The beginning of a line that is a report; other lines are log messages. */
	String MARK = "report ";

	/**
	 * The worker takes commands.
	 *
	 * @param port the port of its web server
	 */
	record Ready(int port) implements WorkerReport {

	}

	/**
	 * What the worker holds and waits for now.
	 *
	 * @param held the lock that it holds, if any
	 * @param waiting how many of its threads wait for the lock
	 * @param waitedMillis how long the first of them has waited
	 */
	record Locks(@Nullable Held held, int waiting, long waitedMillis) implements WorkerReport {

	}

	/**
	 * A held lock.
	 *
	 * @param token its fencing token, as text, because readers of JSON round such numbers
	 * @param leaseMillis how long it lasts unless it is renewed
	 * @param remainingMillis how much of that is left
	 */
	record Held(String token, long leaseMillis, long remainingMillis) {

	}

	/**
	 * Something that happened to a sale.
	 *
	 * @param kind what happened
	 * @param seat the seat, or 0 if it concerns none
	 * @param token the fencing token of the lock, or "0" for a sale without a lock
	 */
	record Incident(Kind kind, int seat, String token) implements WorkerReport {

	}

	/**
	 * All threads of the worker have finished the sale.
	 *
	 * @param eventId the event
	 */
	record Done(int eventId) implements WorkerReport {

	}

	/** Kinds of incidents. */
	enum Kind {

		/** A seat was sold. */
		SOLD,
		/** The lock was lost while its holder still worked. */
		LOST,
		/** The fence refused a write whose lock had passed to another process. */
		REFUSED,
		/** A transaction was rolled back, because its lock was lost before the commit. */
		ROLLED_BACK,
		/** A transaction was rolled back, because another one was in its way. */
		CONFLICT,
		/** A write was accepted although its lock was lost, because nothing fences it. */
		UNFENCED,
		/** A thread stopped selling, because it lost the lock in each attempt. */
		GAVE_UP

	}

}
