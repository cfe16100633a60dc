package io.distributedlock.jdbc.dialect;

/**
 * The rule by which an attempt and a release change a row, written once in SQL. Each
 * dialect fills in its words; the package description has the rule in prose.
 * <p>
 * The words of an attempt: {@code row} is the qualifier of the columns, {@code now} the
 * clock, {@code process}, {@code newOwner}, {@code newOrder}, {@code newHolder},
 * {@code leaseEnd} and {@code since} describe the attempt ({@code since} is {@code NULL}
 * if it does not wait), {@code entryEnd} is the end of an entry that is made now,
 * {@code reserved} marks a reservation for the process, {@code grantedOrder} is the
 * {@code raisedOrder} of a row that is acquired, and {@code keptOrder} and
 * {@code busyOwner} are the order and the owner of one that is not. The words of a
 * release: {@code clock}, {@code releaser}, {@code reservationEnd}, and
 * {@code reservedForFirst}. A release that keeps the row for a shortest hold sets
 * {@code kept} as its owner, until {@code keptUntil}.
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
			({row}owner IS NULL OR {row}owner = {reserved} OR {row}expires_at <= {now})""";

	private static final String FIRST_OPEN = """
			({since} IS NOT NULL AND {row}owner <> {newOwner} AND ({row}first_waiter IS NULL
				OR {row}first_waiter = {process} OR {row}first_waiter_until IS NULL
				OR {row}first_waiter_until <= {now} OR {row}first_waiter_since > {since}))""";

	/** Whether the process in the first entry moves to the second one. */
	private static final String DISPLACED = """
			({firstOpen} AND {row}first_waiter <> {process} AND {row}first_waiter_until > {now}
				AND ({row}second_waiter IS NULL OR {row}second_waiter = {process}
					OR {row}second_waiter_until <= {now} OR {row}second_waiter_since >= {row}first_waiter_since))""";

	private static final String SECOND_OPEN = """
			({since} IS NOT NULL AND {row}owner <> {newOwner} AND NOT {firstOpen}
				AND ({row}second_waiter IS NULL OR {row}second_waiter = {process}
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
				WHEN {secondOpen} THEN {entryEnd} ELSE {row}second_waiter_until END,
			second_waiter = CASE WHEN {acquirable} THEN NULLIF({row}second_waiter, {process})
				WHEN {displaced} THEN {row}first_waiter WHEN {firstOpen} THEN NULLIF({row}second_waiter, {process})
				WHEN {secondOpen} THEN {process} ELSE {row}second_waiter END,
			first_waiter = CASE WHEN {acquirable} THEN NULLIF({row}first_waiter, {process})
				WHEN {firstOpen} THEN {process} ELSE {row}first_waiter END,
			first_waiter_since = CASE WHEN {acquirable} OR NOT {firstOpen} THEN {row}first_waiter_since
				ELSE {since} END,
			first_waiter_until = CASE WHEN {acquirable} OR NOT {firstOpen} THEN {row}first_waiter_until
				ELSE {entryEnd} END,
			owner = CASE WHEN {acquirable} THEN {newOwner} ELSE {busyOwner} END,
			expires_at = CASE WHEN {granted} THEN {leaseEnd} ELSE {row}expires_at END""";

	/** Whether a row was released and has no entries, so any process may acquire it. */
	private static final String FREE = """
			({row}owner IS NULL AND {row}first_waiter IS NULL AND {row}second_waiter IS NULL)""";

	private static final String RAISED_ORDER = "GREATEST({row}grant_order + 1, {newOrder})";

	/** Whether a release reserves the lock for the first entry. */
	private static final String WAITED_FOR = """
			first_waiter <> {releaser} AND first_waiter_until > {clock}""";

	private static final String RELEASE = """
			expires_at = CASE WHEN {waitedFor} THEN {reservationEnd} ELSE {clock} END,
			owner = CASE WHEN {waitedFor} THEN {reservedForFirst} END,
			first_waiter = CASE WHEN second_waiter <> {releaser} AND second_waiter_until > {clock}
				THEN second_waiter END,
			first_waiter_since = second_waiter_since, first_waiter_until = second_waiter_until,
			second_waiter = NULL""";

	private RowRule() {
	}

	/** Adds the rule to the words of a dialect, which the rule refers to. */
	static SqlWords addTo(SqlWords words) {
		return words.with("attempt", ATTEMPT)
			.with("displaced", DISPLACED)
			.with("secondOpen", SECOND_OPEN)
			.with("firstOpen", FIRST_OPEN)
			.with("free", FREE)
			.with("raisedOrder", RAISED_ORDER)
			.with("acquirable", ACQUIRABLE)
			.with("release", RELEASE)
			.with("waitedFor", WAITED_FOR)
			.with("kept", "'" + LockRow.KEPT + "'");
	}

}
