package io.distributedlock.jdbc.dialect;

/** What tests of other packages need of a dialect. */
public final class DialectSql {

	private DialectSql() {
	}

	/** Returns the SQL of the clock in microseconds since 1970. */
	public static String clock(Dialect dialect) {
		return dialect.sql("{clock}");
	}

	/** Returns a key as the value of the key column. */
	public static Object stored(Dialect dialect, String key) {
		return dialect.stored(key);
	}

}
