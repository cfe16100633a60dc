package io.distributedlock.jdbc.rowlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.distributedlock.LockException;
import io.distributedlock.jdbc.LockTable;
import io.distributedlock.jdbc.dialect.Dialect.Renewal;
import io.distributedlock.jdbc.dialect.LockKeyEncoder;
import io.distributedlock.jdbc.dialect.LockRow;
import io.distributedlock.jdbc.rowlock.HeldRows.SessionCheck;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;

/**
 * Renewal of row locks: one statement on the connection of each, which shows that its
 * session lives and keeps the server from ending it, and one statement for the rows with
 * the orders of all. A lock is renewed if both succeed; it is lost if either row or
 * session is another's or has ended.
 */
final class RowLockRenewal {

	private static final Log logger = LogFactory.getLog(RowLockRenewal.class);

	private final HeldRows heldRows;

	private final RowLocks locks;

	private final LockTable table;

	RowLockRenewal(HeldRows heldRows, RowLocks locks, LockTable table) {
		this.heldRows = heldRows;
		this.locks = locks;
		this.table = table;
	}

	Map<LockGrant, RenewalOutcome> renew(Map<LockGrant, Duration> leases, Duration timeout, LockKeyEncoder keys) {
		Deadline deadline = Deadline.after(timeout);
		Map<LockGrant, RenewalOutcome> outcomes = new HashMap<>();
		List<Check> checks = new ArrayList<>(leases.size());
		leases.forEach((grant, lease) -> {
			HeldRow row = this.heldRows.find(LockRow.ROW + grant.owner().text());
			if (row == null || !row.key().equals(keys.encode(grant.key()))) {
				outcomes.put(grant, RenewalOutcome.NOT_HELD);
			}
			else {
				checks.add(new Check(grant, row, lease, Deadline.after(lease),
						this.heldRows.check(row, this.locks.dialect(), lease)));
			}
		});
		if (!checks.isEmpty()) {
			List<RenewalOutcome> orders = renewOrders(checks, timeout, deadline);
			for (int i = 0; i < checks.size(); i++) {
				outcomes.put(checks.get(i).grant(), outcome(checks.get(i), orders.get(i), deadline));
			}
		}
		return outcomes;
	}

	/**
	 * Renews the rows with the orders. A session that has ended is a loss whether or not
	 * the database answers on other connections.
	 * @throws LockException if the database could not answer, and no session has ended
	 */
	private List<RenewalOutcome> renewOrders(List<Check> checks, Duration timeout, Deadline deadline) {
		try {
			return this.table.renew(checks.stream().map(Check::renewal).toList(), timeout);
		}
		catch (LockException ex) {
			if (checks.stream().noneMatch((check) -> check.session().state(deadline) == SessionState.ENDED)) {
				throw ex;
			}
			logger.debug("The orders of row locks could not be renewed, while a session has ended", ex);
			return Collections.nCopies(checks.size(), RenewalOutcome.UNKNOWN);
		}
	}

	private RenewalOutcome outcome(Check check, RenewalOutcome order, Deadline deadline) {
		if (order == RenewalOutcome.NOT_HELD) {
			this.heldRows.end(check.row(), this.locks.dialect());
			return RenewalOutcome.NOT_HELD;
		}
		SessionState session = check.session().state(deadline);
		if (session == SessionState.UNCLEAR) {
			return RenewalOutcome.UNKNOWN;
		}
		if (session == SessionState.ENDED) {
			this.heldRows.end(check.row(), this.locks.dialect());
			release(check.row(), deadline);
			return RenewalOutcome.NOT_HELD;
		}
		if (order == RenewalOutcome.RENEWED) {
			check.row().prolong(check.until());
		}
		return order;
	}

	/** Frees the lock for processes without row locks, and for people who look at it. */
	private void release(HeldRow row, Deadline deadline) {
		ReleaseOutcome outcome = this.table.release(row.key(), row.owner(), 0, deadline.remaining());
		logger.debug("The session " + row.session() + " of a row lock has ended; its row: " + outcome);
	}

	/**
	 * Check of a row that is under way.
	 *
	 * @param grant the grant
	 * @param row its row
	 * @param lease the new lease
	 * @param until until when it lasts
	 * @param session the check of its session
	 */
	private record Check(LockGrant grant, HeldRow row, Duration lease, Deadline until, SessionCheck session) {

		private Renewal renewal() {
			return new Renewal(this.row.key(), this.row.owner(), TimeUnit.NANOSECONDS.toMicros(this.lease.toNanos()));
		}

	}

}
