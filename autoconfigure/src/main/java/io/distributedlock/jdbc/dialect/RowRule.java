package io.distributedlock.jdbc.dialect;

/**
 * The rule by which an attempt and a release change a row, written once in SQL. Each
 * dialect fills in its words; the package description has the rule in prose.
 * <p>
 * The words of an attempt: {@code row} is the qualifier of the columns, {@code now} the
 * clock, {@code process}, {@code newOwner}, {@code newHolder}, {@code leaseEnd} and
 * {@code since} describe the attempt ({@code since} is 0 if it does not wait),
 * {@code entryMicros} is the validity of an entry, {@code grantedOrder} is the
 * {@code raisedOrder} of a row that is acquired, and {@code keptOrder} and
 * {@code busyOwner} are the order and the owner of one that is not. The words of a
 * release: {@code releasedAt}, {@code releaser}, and {@code reservationMicros}.
 * {@code reservedFor} is the owner of a row that is reserved for a process.
 * <p>
 * No column but the holder is {@code NULL} or changes its length, because InnoDB writes a
 * row in place only then. {@code free}, {@code kept} and {@code none} are the markers in
 * place of an owner and of a process.
 * <p>
 * MariaDB and MySQL run assignments from left to right, so that a condition sees what was
 * assigned before. So a column is assigned after the last condition that reads it. The
 * exceptions are conditions that hold for the new value as they held for the old one: a
 * second entry that was open, a first entry that was open and now is that of this
 * process, and an owner that was granted the lock, for which there is the word
 * {@code granted}.
 */
final class RowRule {

	private static final String ACQUIRABLE = """
			({row}owner = {free} OR {row}owner = {reservedFor(process)} OR {row}expires_at <= {now})""";

	private static final String FIRST_OPEN = """
			({since} > 0 AND {row}owner <> {newOwner} AND ({row}first_waiter = {none}
				OR {row}first_waiter = {process} OR {row}first_waiter_until <= {now}
				OR {row}first_waiter_since > {since}))""";

	/** Whether the process in the first entry moves to the second one. */
	private static final String DISPLACED = """
			({firstOpen} AND {row}first_waiter <> {none} AND {row}first_waiter <> {process}
				AND {row}first_waiter_until > {now}
				AND ({row}second_waiter = {none} OR {row}second_waiter = {process}
					OR {row}second_waiter_until <= {now} OR {row}second_waiter_since >= {row}first_waiter_since))""";

	private static final String SECOND_OPEN = """
			({since} > 0 AND {row}owner <> {newOwner} AND NOT {firstOpen}
				AND ({row}second_waiter = {none} OR {row}second_waiter = {process}
					OR {row}second_waiter_until <= {now} OR {row}second_waiter_since >= {since}))""";

	private static final String ATTEMPT = """
			grant_order = CASE WHEN {acquirable} THEN {grantedOrder} ELSE {keptOrder} END,
			holder = CASE WHEN {acquirable} THEN {newHolder} ELSE {row}holder END,
			acquired_at = CASE WHEN {acquirable} THEN {now} ELSE {row}acquired_at END,
			second_waiter_since = CASE WHEN {acquirable} THEN {row}second_waiter_since
				WHEN {displaced} THEN {row}first_waiter_since
				WHEN {secondOpen} THEN {since} ELSE {row}second_waiter_since END,
			second_waiter_until = CASE WHEN {acquirable} THEN {row}second_waiter_until
				WHEN {displaced} THEN {row}first_waiter_until
				WHEN {secondOpen} THEN {now} + {entryMicros} ELSE {row}second_waiter_until END,
			second_waiter = CASE WHEN {acquirable} THEN {another(second_waiter)}
				WHEN {displaced} THEN {row}first_waiter WHEN {firstOpen} THEN {another(second_waiter)}
				WHEN {secondOpen} THEN {process} ELSE {row}second_waiter END,
			first_waiter = CASE WHEN {acquirable} THEN {another(first_waiter)}
				WHEN {firstOpen} THEN {process} ELSE {row}first_waiter END,
			first_waiter_since = CASE WHEN {acquirable} OR NOT {firstOpen} THEN {row}first_waiter_since
				ELSE {since} END,
			first_waiter_until = CASE WHEN {acquirable} OR NOT {firstOpen} THEN {row}first_waiter_until
				ELSE {now} + {entryMicros} END,
			owner = CASE WHEN {acquirable} THEN {newOwner} ELSE {busyOwner} END,
			expires_at = CASE WHEN {granted} THEN {leaseEnd} ELSE {row}expires_at END""";

	/** The process of an entry, unless that is the process of the attempt. */
	private static final String ANOTHER = "CASE WHEN {row}%s = {process} THEN {none} ELSE {row}%s END";

	/** Whether a row was released and has no entries, so any process may acquire it. */
	private static final String UNCONTENDED = """
			({row}owner = {free} AND {row}first_waiter = {none} AND {row}second_waiter = {none})""";

	/** The larger of the last order + 1 and the clock. */
	private static final String RAISED_ORDER = "CASE WHEN {row}grant_order < {now} THEN {now} ELSE {row}grant_order + 1 END";

	/** Whether a release reserves the lock for the first entry. */
	private static final String WAITED_FOR = """
			first_waiter <> {none} AND first_waiter <> {releaser} AND first_waiter_until > {releasedAt}""";

	private static final String RELEASE = """
			expires_at = {releasedAt} + CASE WHEN {waitedFor} THEN {reservationMicros} ELSE 0 END,
			owner = CASE WHEN {waitedFor} THEN {reservedFor(first_waiter)} ELSE {free} END,
			first_waiter = CASE WHEN second_waiter <> {releaser} AND second_waiter_until > {releasedAt}
				THEN second_waiter ELSE {none} END,
			first_waiter_since = second_waiter_since, first_waiter_until = second_waiter_until,
			second_waiter = {none}""";

	private static final String NAMES = """
			lock_key, owner, grant_order, expires_at, acquired_at, holder,
				first_waiter, first_waiter_since, first_waiter_until,
				second_waiter, second_waiter_since, second_waiter_until""";

	/** What follows the key in a row that is no lock: its order, and no end. */
	private static final String NO_LOCK = "{free}, %s, " + Long.MAX_VALUE + ", 0, NULL, {noEntries}";

	private RowRule() {
	}

	/** Adds the rule to the words of a dialect, which the rule refers to. */
	static SqlWords addTo(SqlWords words) {
		return words.with("attempt", ATTEMPT)
			.with("displaced", DISPLACED)
			.with("secondOpen", SECOND_OPEN)
			.with("firstOpen", FIRST_OPEN)
			.with("uncontended", UNCONTENDED)
			.with("another", ANOTHER)
			.with("raisedOrder", RAISED_ORDER)
			.with("acquirable", ACQUIRABLE)
			.with("release", RELEASE)
			.with("waitedFor", WAITED_FOR)
			.with("names", NAMES)
			.with("noLock", NO_LOCK)
			.with("noEntries", "{none}, 0, 0, {none}, 0, 0")
			.with("none", "'" + LockRow.NONE + "'")
			.with("free", "'" + LockRow.FREE + "'")
			.with("kept", "'" + LockRow.KEPT + "'");
	}

}
