/**
 * Locks in a table of a database that the application already has.
 * <p>
 * <b>The row.</b> The lock table has one row per key. All its times are microseconds
 * since 1970 by the database's clock. No column but the holder is {@code NULL} or changes
 * its length, so that InnoDB writes a row in place.
 * <table>
 * <caption>Columns of the lock table</caption>
 * <tr>
 * <th>column</th>
 * <th>content</th>
 * </tr>
 * <tr>
 * <td>{@code lock_key}</td>
 * <td>prefix and key, the primary key</td>
 * </tr>
 * <tr>
 * <td>{@code owner}</td>
 * <td>the state, a colon, and the id of a grant or of a process, or dots</td>
 * </tr>
 * <tr>
 * <td>{@code grant_order}</td>
 * <td>the order of the last grant; it never falls</td>
 * </tr>
 * <tr>
 * <td>{@code expires_at}</td>
 * <td>the end of the lease, of the reservation, or of the last lease</td>
 * </tr>
 * <tr>
 * <td>{@code acquired_at}, {@code holder}</td>
 * <td>when and by which process the lock was last acquired, for people</td>
 * </tr>
 * <tr>
 * <td>{@code first_waiter}, {@code first_waiter_since}, {@code first_waiter_until}</td>
 * <td>the first entry of the wait queue: the process id of a contender, when it was first
 * refused, and until when the entry is valid</td>
 * </tr>
 * <tr>
 * <td>{@code second_waiter}, {@code second_waiter_since},
 * {@code second_waiter_until}</td>
 * <td>the second entry</td>
 * </tr>
 * </table>
 * <p>
 * <b>States of a row.</b> Only {@code owner} and {@code expires_at} decide about an
 * attempt. Release and renewal change a row only if it has their owner.
 * <table>
 * <caption>States of a row</caption>
 * <tr>
 * <th>state</th>
 * <th>{@code owner}</th>
 * <th>{@code expires_at}</th>
 * <th>valid entries</th>
 * <th>may acquire</th>
 * </tr>
 * <tr>
 * <td>free</td>
 * <td>{@code free....:} and dots</td>
 * <td>any</td>
 * <td>any</td>
 * <td>each process</td>
 * </tr>
 * <tr>
 * <td>held</td>
 * <td>{@code held....:} and an owner id</td>
 * <td>in the future</td>
 * <td>none</td>
 * <td>no process</td>
 * </tr>
 * <tr>
 * <td>held and waited for</td>
 * <td>{@code held....:} and an owner id</td>
 * <td>in the future</td>
 * <td>one or two</td>
 * <td>no process; a release reserves the lock</td>
 * </tr>
 * <tr>
 * <td>reserved</td>
 * <td>{@code reserved:} and a process id</td>
 * <td>in the future</td>
 * <td>any</td>
 * <td>that process</td>
 * </tr>
 * <tr>
 * <td>kept</td>
 * <td>{@code kept....:} and dots</td>
 * <td>in the future</td>
 * <td>any</td>
 * <td>no process</td>
 * </tr>
 * <tr>
 * <td>expired</td>
 * <td>any but free</td>
 * <td>in the past</td>
 * <td>any</td>
 * <td>each process</td>
 * </tr>
 * </table>
 * <p>
 * <b>The recipe.</b> Each step is one statement in autocommit mode, unless its
 * description names several.
 * <ol>
 * <li><b>Attempt.</b> A contender that was not refused yet begins with a short upsert,
 * which acquires a row that is free and without entries, or does not exist. If that
 * acquires nothing, the contender reads the row, and continues only if that would change
 * it. If the key was busy a moment ago in this process, the contender does not expect a
 * free row: without the short upsert it continues at once if it will wait, else it reads
 * the row first. The upsert with the whole rule follows: if the process may acquire the
 * row, it sets owner, holder and times, raises the order to the larger of the last order
 * + 1 and the clock's microseconds, and removes this process's entries. If the row
 * already has this owner, it changes nothing. It returns the row; on MySQL it returns
 * only the order of a grant, and a {@code SELECT} reads the row of a busy lock. The
 * contender has the lock if the row has its owner id.</li>
 * <li><b>Enter the wait queue.</b> The same upsert does so if the lock is busy and the
 * contender will wait. It becomes the first entry if that is empty, not valid, its own,
 * or of a process that was refused later. The second entry is open under the same
 * conditions: to the process that was displaced from the first entry, else to the
 * contender.</li>
 * <li><b>Wait.</b> Further attempts read the row first, and write only if that would
 * change it: acquire the lock, enter the wait queue, or refresh an entry of which half
 * the time is over. A contender without an entry enters the queue only in its turn, which
 * is a time after the last grant that grows with the time by which the contender was
 * refused later than those in the queue; and it displaces the second entry only if that
 * was refused much later. On PostgreSQL the contender that a notification names as
 * reserved writes at once, the others poll in their turn; each polls about once a second
 * besides. Elsewhere it polls after 1 to 250 ms, with an entry at least twice within a
 * reservation. No pause is longer than the rest of the lease and a turn.</li>
 * <li><b>Release.</b> An update where key and owner match. If the first entry is valid
 * and of another process, the row becomes reserved for it, for 100 ms on PostgreSQL and
 * 250 ms elsewhere; otherwise it becomes free. The second entry becomes the first. The
 * row stays, so that orders continue. PostgreSQL notifies contenders in the same
 * statement. The notification names the process of the reservation and that of the first
 * entry.</li>
 * <li><b>Release within a shortest hold.</b> An update where key and owner match sets
 * {@code kept....:} and dots as owner, which is no process and no grant, and the end. The
 * entries of the wait queue stay. PostgreSQL notifies the first of them, which then knows
 * the end.</li>
 * <li><b>Renew.</b> One statement for up to 500 leases: it sets the end of those that
 * have their owner and have not expired, and skips rows that are locked. On H2 and
 * MariaDB a second statement separates skipped leases (unknown) from lost ones, on MySQL
 * four more.</li>
 * <li><b>Withdraw.</b> An update removes the entries of the process; then the statement
 * of a release, with the reservation as owner, frees or passes on a lock reserved for
 * it.</li>
 * <li><b>Sweep.</b> One process at a time, which holds the lock {@code %sweeper} of the
 * table, reads pages of keys and deletes rows that expired longer than the retention ago
 * and whose order is less than the clock's microseconds. The deletion repeats both
 * conditions. A process that finds that this lock was acquired in the present period
 * leaves the table alone.</li>
 * </ol>
 * The row {@code %format} has the format number of the table as its order. Columns keep
 * their names in all formats, so that each version can read the number. A format makes
 * the statements of the others fail: a process that runs reads the number again after
 * that.
 * <p>
 * <b>Row locks.</b> With {@link io.distributedlock.jdbc.rowlock.JdbcRowLockProvider} a
 * grant lasts as long as a transaction that has locked the row {@code %row:} and key.
 * That row has nothing but the time of its creation as its order. The row of the key is
 * written as for a lease, with {@code row-lock:} and the owner id as its owner.
 * <ol>
 * <li><b>Attempt.</b> On a connection of a pool of its own, {@code SELECT … FOR UPDATE}
 * locks the row; one that does not exist is inserted and committed first. An attempt that
 * waits does so in the queue of the database for half a call's time-out, if its request
 * has a thread; another one does not wait. Then the upsert of a lease is sent on another
 * connection, in autocommit mode. An owner of a row lock that it finds has ended, because
 * its row is locked here, and is replaced; a lease that has not expired makes the lock
 * busy. Last, a statement on the first connection sets the time after which the server
 * ends the session if it is idle: one lease. If the session answers, it had locked the
 * row all the time.</li>
 * <li><b>Renew.</b> The same statement on the connection of each lock, and the renewal of
 * a lease for all. A session that has ended, or another owner, is a loss.</li>
 * <li><b>Release.</b> The release of a lease, then a rollback, so that a process that
 * locks the row afterwards does not find the owner.</li>
 * <li><b>Sweep.</b> Rows created longer than the retention ago are deleted in a
 * transaction that has locked them without a wait, under the lock of the sweeper.</li>
 * </ol>
 * <p>
 * <b>Sources.</b> An attempt that compares and takes over an expired row is the recipe of
 * ShedLock's {@code StorageBasedLockProvider} and of Spring Integration's
 * {@code LockRepository}. Reservation, wait queue and order are of this project; the
 * decision record {@code docs/decisions/0001-two-wait-queue-entries.md} explains the two
 * entries. Statements rely on {@code INSERT … ON CONFLICT … RETURNING},
 * {@code FOR UPDATE SKIP LOCKED} and {@code NOTIFY} of PostgreSQL,
 * {@code INSERT … ON DUPLICATE KEY UPDATE … RETURNING} of MariaDB,
 * {@code LAST_INSERT_ID(expression)} of MySQL and MariaDB, and
 * {@code SELECT … FROM FINAL TABLE (MERGE …)} of H2.
 */
@NullMarked
package io.distributedlock.jdbc;

import org.jspecify.annotations.NullMarked;
