package io.distributedlock;

/**
 * The catalogue of errors and of warnings in the log. Every {@link LockException} has
 * one, its message begins with the {@link #id() id}, and {@code docs/errors.md} describes
 * each.
 *
 * @since 0.1.0
 */
public enum LockError {

	/** Another owner held the lock for the whole wait time. */
	BUSY("DL-101"),
	/** The lock was lost while its holder still worked. */
	LOST("DL-201"),
	/** A nested call requested a lock that the enclosing call had lost. */
	REENTRY_AFTER_LOSS("DL-202"),
	/** A lock of a request for several keys was lost before the last was acquired. */
	LOST_WHILE_ACQUIRING("DL-203"),
	/** At the commit, less was left of a lock's lease than the commit margin. */
	COMMIT_MARGIN("DL-204"),
	/** The store failed, or refused the command. */
	STORE_FAILED("DL-301"),
	/** The store did not answer in time. */
	STORE_TIMEOUT("DL-302"),
	/** Locks are no longer granted because the application is shutting down. */
	SHUTTING_DOWN("DL-303"),
	/** The lock table is missing, or lacks columns. */
	TABLE_MISSING("DL-304"),
	/** The user of the store lacks a right that locks need. */
	NOT_PERMITTED("DL-305"),
	/** The store was laid out by a newer version than this one. */
	NEWER_FORMAT("DL-306"),
	/** The store's server is too old. */
	STORE_TOO_OLD("DL-307"),
	/** The process holds more locks than its session with the store can carry. */
	SESSION_FULL("DL-308"),
	/** The lock table is not as its script creates it. */
	TABLE_UNSUITABLE("DL-309"),
	/**
	 * The store's server, or a proxy before it, cannot run the commands of locks
	 * correctly.
	 */
	STORE_UNSUITABLE("DL-310"),
	/**
	 * The store answers, but refuses writes for now: it is a replica, is read-only, or
	 * lacks memory, disk or replicas.
	 */
	WRITES_REFUSED("DL-311"),
	/** The waiting thread was interrupted. */
	INTERRUPTED("DL-401"),
	/** A key, or a part of it, is null. */
	NULL_KEY("DL-501"),
	/** A key, a part of it, or a name is blank. */
	BLANK_KEY("DL-502"),
	/** A collection of keys is empty. */
	NO_KEYS("DL-503"),
	/** A composite key has two collections. */
	TWO_COLLECTIONS("DL-504"),
	/**
	 * A key's value has no text form of its own, so that its text would differ in each
	 * process.
	 */
	KEY_WITHOUT_TEXT("DL-505"),
	/** The key expression failed at the call. */
	KEY_EVALUATION("DL-506"),
	/** A lease is zero, negative or out of range. */
	INVALID_LEASE("DL-511"),
	/** A wait time is negative or out of range. */
	INVALID_WAIT_TIME("DL-512"),
	/** A longest hold is zero, negative or out of range. */
	INVALID_MAX_HOLD("DL-513"),
	/** A property has a value that cannot work. */
	INVALID_PROPERTY("DL-514"),
	/**
	 * A shortest hold is negative, out of range, or longer than the hold that it is part
	 * of.
	 */
	INVALID_MIN_HOLD("DL-515"),
	/** A number of permits is out of range, or contradicts the mode. */
	INVALID_PERMITS("DL-516"),
	/** An expression of an annotation cannot be parsed. */
	INVALID_EXPRESSION("DL-601"),
	/** An expression names a variable that the method does not have. */
	UNKNOWN_VARIABLE("DL-602"),
	/** A duration of an annotation cannot be read. */
	INVALID_DURATION("DL-603"),
	/** A method whose result has no value for a skipped call. */
	NO_EMPTY_RESULT("DL-604"),
	/** A result that finishes after the method has returned. */
	UNSUPPORTED_RESULT("DL-605"),
	/** An annotated method that no proxy can intercept. */
	NOT_PROXYABLE("DL-606"),
	/** An annotated bean that was created without the lock's advisor. */
	NOT_ADVISED("DL-607"),
	/** Two methods that share a default name. */
	AMBIGUOUS_NAME("DL-608"),
	/**
	 * An annotated life-cycle, injection or factory method, which runs outside the proxy.
	 */
	LIFECYCLE_METHOD("DL-609"),
	/** The transaction of a locked method would begin before its lock. */
	ADVISOR_ORDER("DL-610"),
	/** A call reached the lock's interceptor, but its method has no lock attribute. */
	CALL_WITHOUT_ATTRIBUTE("DL-611"),
	/** The task of an asynchronous method would run outside the method's lock. */
	ASYNC_INSIDE_LOCK("DL-612"),
	/** An expression names a variable that means different arguments. */
	AMBIGUOUS_VARIABLE("DL-613"),
	/** A thread of an event loop would have to wait for a lock. */
	NON_BLOCKING_THREAD("DL-614"),
	/**
	 * No method, or several ones, can be the fallback of a locked method, or its calls
	 * are skipped.
	 */
	FALLBACK_METHOD("DL-616"),
	/**
	 * A failure handler, a fallback or the method itself returned a value that is no
	 * result of the method.
	 */
	UNSUITABLE_RESULT("DL-617"),
	/** A shortest hold was requested of a store that cannot keep a released lock. */
	MIN_HOLD_UNSUPPORTED("DL-618"),
	/** A scheduled job that may run on several nodes. */
	SCHEDULED_ON_EVERY_NODE("DL-619"),
	/** The condition of a lock failed at the call, or was neither true nor false. */
	CONDITION_EVALUATION("DL-620"),
	/** Work that asserts its lock runs without it. */
	NOT_LOCKED("DL-621"),
	/** Warning: an object calls a locked method of its own, past its proxy. */
	SELF_INVOCATION("DL-623"),
	/** Warning: a nested request acquires keys against their order. */
	NESTED_ORDER("DL-624"),
	/** Warning: bodies take nearly as long as a lease that is not renewed. */
	LONG_HOLD("DL-625"),
	/** Warning: settings, each of them valid, defeat renewals or hand-offs together. */
	CONFLICTING_SETTINGS("DL-626"),
	/** Warning: a lease is shorter than the time for which the store keeps a lock. */
	SHORT_LEASE("DL-627"),
	/** A method has several annotations that mean a lock, none nearer than the others. */
	SEVERAL_ANNOTATIONS("DL-628"),
	/** A mode was requested in which the store grants no locks. */
	MODE_UNSUPPORTED("DL-629"),
	/** A nested request wants a key alone of which its thread has a share. */
	EXCLUSIVE_INSIDE_SHARED("DL-630"),
	/** Reactive method security would let later subscriptions pass the lock. */
	SECURITY_OUTSIDE_LOCK("DL-640"),
	/** A bean has locked methods, but its context has no locks. */
	CONTEXT_WITHOUT_LOCKS("DL-641"),
	/** There is no store for the locks, or its database is not supported. */
	NO_PROVIDER("DL-701"),
	/** There are several stores, and none is chosen. */
	SEVERAL_PROVIDERS("DL-702"),
	/** The store did not answer at start, and the application asked to fail then. */
	STORE_DOWN_AT_START("DL-703"),
	/** There are several failure handlers for locked methods. */
	SEVERAL_FAILURE_HANDLERS("DL-704"),
	/** A locked method names a provider that the application does not have. */
	UNKNOWN_PROVIDER("DL-705"),
	/** There are several {@link LockOperations}, and none is primary. */
	SEVERAL_OPERATIONS("DL-706"),
	/**
	 * A key or condition names a bean of a child context that has no auto-configuration
	 * of locks.
	 */
	BEAN_OF_CHILD_CONTEXT("DL-707"),
	/** The database has the fence of a later holder. */
	STALE_HOLDER("DL-801"),
	/** The transaction of another holder kept a fence for too long. */
	FENCE_TIMEOUT("DL-802"),
	/** A fence cannot protect a transaction of this isolation level. */
	FENCE_ISOLATION("DL-803"),
	/** The table of the fences is missing, or lacks columns. */
	FENCE_TABLE_MISSING("DL-804"),
	/** A database or a transaction manager cannot have fenced transactions. */
	FENCE_UNSUPPORTED("DL-805");

	private final String id;

	LockError(String id) {
		this.id = id;
	}

	/**
	 * Returns the identifier in the catalogue.
	 * @return {@code DL-} and three digits
	 */
	public String id() {
		return this.id;
	}

	/**
	 * Returns the message of a warning, which has the form of an exception's message.
	 * @param problem what is suspected and where, a sentence without its full stop
	 * @param action what to do about it, a sentence without its full stop
	 * @return the id and both sentences
	 */
	public String describe(String problem, String action) {
		return this.id + ": " + problem + ". " + action;
	}

}
