package io.distributedlock.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockHolder;
import io.distributedlock.LockKey;
import io.distributedlock.jdbc.connection.LockDataSource;
import io.distributedlock.jdbc.connection.SqlCallExecutor;
import io.distributedlock.jdbc.dialect.Dialect.KeyedRow;
import io.distributedlock.jdbc.dialect.LockKeyEncoder;
import io.distributedlock.jdbc.dialect.LockRow;
import io.distributedlock.jdbc.dialect.ShareStatements;
import io.distributedlock.jdbc.dialect.SqlErrors;
import io.distributedlock.provider.AnsweredStoreCall;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockInspector;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.provider.StoredLock;

/**
 * Base of the providers that keep the owners and orders of locks in a table: its checks,
 * what operators see and change in it, and the sweeper of its free rows.
 */
public abstract class TableLockProvider implements LockProvider, LockInspector, AutoCloseable {

	private final LockDataSource dataSource;

	private final LockKeyEncoder keys;

	private final SqlCallExecutor calls;

	private final LockTable table;

	private final TableCheck tableCheck;

	private final Sweeper sweeper;

	public TableLockProvider(LockDataSource dataSource, JdbcLockSettings settings, LockTimer timer) {
		this.dataSource = dataSource;
		this.keys = new LockKeyEncoder(settings.keyPrefix());
		this.calls = new SqlCallExecutor(dataSource.connections(), settings.table(), timer);
		this.table = new LockTable(this.calls, settings);
		this.tableCheck = new TableCheck(this.table, settings.table(), this::checkServer);
		this.sweeper = new Sweeper(this.calls, settings.retention(), timer, this.table.process(), this.table.holder());
	}

	public final LockKeyEncoder keys() {
		return this.keys;
	}

	final SqlCallExecutor calls() {
		return this.calls;
	}

	public final LockTable table() {
		return this.table;
	}

	public final TableCheck tableCheck() {
		return this.tableCheck;
	}

	public final Sweeper sweeper() {
		return this.sweeper;
	}

	public final String process() {
		return this.table.process();
	}

	/** Checks what these locks need of the server beyond the table, once. */
	public abstract void checkServer(Duration timeout);

	/** Releases a lock of this kind of provider. */
	public abstract ReleaseOutcome releaseOwn(LockKey key, OwnerId owner, Duration keepFor, Duration timeout);

	/** Returns the owner of a lock of the other kind, as the table has it. */
	public abstract String otherOwner(OwnerId owner);

	@Override
	public final String name() {
		return SqlErrors.PROVIDER;
	}

	@Override
	public final boolean isBlocking() {
		return true;
	}

	/** Leaves two connections to releases and renewals, if there are more than that. */
	@Override
	public final int concurrentCalls() {
		return Math.max(2, this.dataSource.connections().size() - 2);
	}

	/**
	 * Checks the database, and until that has succeeded once also the table and the
	 * rights.
	 */
	@Override
	public final void check(Duration timeout) {
		this.tableCheck.run(timeout);
	}

	/**
	 * Checks that the database answers, and would accept writes to the table, by
	 * statements that match no row.
	 */
	@Override
	public final void probe(Duration timeout) {
		this.tableCheck.probe(timeout);
	}

	@Override
	public final StoreCall<ReleaseOutcome> release(LockKey key, OwnerId owner, Duration keepFor, Duration timeout) {
		return AnsweredStoreCall.by(() -> releaseOwn(key, owner, keepFor, timeout));
	}

	@Override
	public final Optional<StoredLock> find(LockKey key, Duration timeout) {
		return findAll(key, timeout).stream().findFirst();
	}

	@Override
	public final List<StoredLock> findAll(LockKey key, Duration timeout) {
		String text = this.keys.encode(key);
		return this.table.call(timeout, (connection, dialect) -> {
			LockRow row = dialect.read(connection, text);
			return (row == null) ? List.<KeyedRow>of() : !row.isShared() ? List.of(new KeyedRow(text, row))
					: new ShareStatements(dialect).read(connection, text, text, Integer.MAX_VALUE);
		}).stream().map(this::describe).filter(Objects::nonNull).toList();
	}

	/**
	 * Lists the locks with this key prefix. Free rows between them, which the sweeper has
	 * not deleted yet, are read too. A row lock whose holder has died is listed until its
	 * lease would have ended.
	 */
	@Override
	public final Optional<List<StoredLock>> list(int limit, Duration timeout) {
		String from = this.keys.prefix();
		// The character that follows the colon.
		String to = from.substring(0, from.length() - 1) + ';';
		return Optional.of(this.table.call(timeout, (connection, dialect) -> {
			List<KeyedRow> rows = dialect.readHeld(connection, from, to, limit);
			List<KeyedRow> shares = rows.stream().anyMatch((held) -> held.row().isShared())
					? new ShareStatements(dialect).read(connection, from, to, limit) : List.of();
			return rows.stream()
				.flatMap((held) -> !held.row().isShared() ? Stream.of(held)
						: shares.stream().filter((share) -> share.key().equals(held.key())))
				.toList();
		}).stream().limit(limit).map(this::describe).filter(Objects::nonNull).toList());
	}

	private @Nullable StoredLock describe(KeyedRow held) {
		String key = held.key();
		LockRow row = held.row();
		LockHolder holder = row.describeHolder();
		if (holder == null || row.remainingMicros() <= 0) {
			return null;
		}
		String prefix = this.keys.prefix();
		return new StoredLock(key.startsWith(prefix) ? key.substring(prefix.length()) : key, row.ownerId(), row.order(),
				holder);
	}

	/**
	 * Clears the owner of a lock of either kind. The holder of a row lock learns of it
	 * with its next renewal, and unlocks the row then.
	 */
	@Override
	public final ReleaseOutcome forceRelease(LockKey key, StoredLock lock, Duration timeout) {
		OwnerId owner = lock.owner();
		if (owner == null) {
			return ReleaseOutcome.NOT_HELD;
		}
		Deadline deadline = Deadline.after(timeout);
		ReleaseOutcome outcome = releaseOwn(key, owner, Duration.ZERO, timeout);
		return (outcome != ReleaseOutcome.NOT_HELD) ? outcome
				: this.table.release(this.keys.encode(key), otherOwner(owner), 0, deadline.remaining());
	}

	/** Stops the sweeper and closes the source of connections. */
	@Override
	public void close() {
		this.sweeper.stop();
		this.calls.close();
		this.dataSource.close();
	}

}
