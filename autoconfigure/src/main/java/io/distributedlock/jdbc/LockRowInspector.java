package io.distributedlock.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockHolder;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.jdbc.connection.SqlCall;
import io.distributedlock.jdbc.connection.SqlCallExecutor;
import io.distributedlock.jdbc.dialect.LockKeyEncoder;
import io.distributedlock.jdbc.dialect.LockRow;
import io.distributedlock.jdbc.dialect.SqlErrors;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.StoredLock;

/** Reader of the lock table for operators, of the rows of all processes. */
final class LockRowInspector {

	private final SqlCallExecutor calls;

	private final String table;

	private final LockKeyEncoder keys;

	LockRowInspector(SqlCallExecutor calls, String table, LockKeyEncoder keys) {
		this.calls = calls;
		this.table = table;
		this.keys = keys;
	}

	/**
	 * Finds the row of a lock that is held or kept.
	 * @throws LockProviderException if the database could not answer
	 */
	Optional<StoredLock> find(LockKey key, Duration timeout) {
		String text = this.keys.encode(key);
		return call(timeout, (connection, dialect) -> Optional.ofNullable(dialect.read(connection, text)))
			.flatMap((row) -> Optional.ofNullable(describe(text, row)));
	}

	/**
	 * Reads the first rows with this prefix whose locks are held or kept.
	 * @throws LockProviderException if the database could not answer
	 */
	List<StoredLock> list(int limit, Duration timeout) {
		String from = this.keys.prefix();
		// The character that follows the colon.
		String to = from.substring(0, from.length() - 1) + ';';
		return call(timeout, (connection, dialect) -> dialect.readHeld(connection, from, to, limit)).stream()
			.map((held) -> describe(held.key(), held.row()))
			.filter(Objects::nonNull)
			.toList();
	}

	private <T extends @Nullable Object> T call(Duration timeout, SqlCall<T> call) {
		try {
			return this.calls.execute(CallKind.ACQUIRE, timeout, call);
		}
		catch (SQLException ex) {
			throw SqlErrors.translate(ex, this.table, this.calls.knownDialect());
		}
	}

	private @Nullable StoredLock describe(String key, LockRow row) {
		LockHolder holder = row.describeHolder();
		if (holder == null || row.owner() == null || row.remainingMicros() <= 0) {
			return null;
		}
		OwnerId owner = holder.released() ? null
				: new OwnerId(row.isOfRowLock() ? row.owner().substring(LockRow.ROW.length()) : row.owner());
		String prefix = this.keys.prefix();
		return new StoredLock(key.startsWith(prefix) ? key.substring(prefix.length()) : key, owner, row.order(),
				holder);
	}

}
