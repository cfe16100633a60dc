package io.distributedlock.jdbc.dialect;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * What MySQL and MariaDB say of the cluster to which a server belongs. Each member of one
 * with several primaries locks rows for itself, and compares transactions only when they
 * commit: one that has locked a row and writes nothing conflicts with none.
 */
public final class MySqlCluster {

	public static final String GALERA = "wsrep_on";

	public static final String GALERA_SIZE = "wsrep_cluster_size";

	public static final String GROUP = "group_replication_single_primary_mode";

	/** Has no row for what the server does not know. */
	private static final String VARIABLES = "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('" + GALERA + "', '" + GROUP
			+ "')";

	private static final String STATUS = "SHOW GLOBAL STATUS WHERE Variable_name = '" + GALERA_SIZE + "'";

	private MySqlCluster() {
	}

	/**
	 * Returns the setting by which several servers accept writes at once, or {@code null}
	 * if one does.
	 */
	public static @Nullable String multiPrimary(Connection connection) throws SQLException {
		Map<String, String> values = new HashMap<>();
		for (String sql : new String[] { VARIABLES, STATUS }) {
			Sql.query(connection, sql, (row) -> Map.entry(row.getString(1), String.valueOf(row.getString(2))))
				.forEach((value) -> values.put(value.getKey().toLowerCase(Locale.ROOT), value.getValue()));
		}
		return multiPrimary(values);
	}

	/**
	 * Returns the same by the values of the server. A cluster whose other members are
	 * down may have them again after the check; a server without a cluster has the size
	 * 0.
	 */
	public static @Nullable String multiPrimary(Map<String, String> values) {
		if (isOn(values.getOrDefault(GALERA, "OFF")) && !values.getOrDefault(GALERA_SIZE, "0").equals("0")) {
			return GALERA + "=ON (Galera)";
		}
		return isOn(values.getOrDefault(GROUP, "ON")) ? null : GROUP + "=OFF (Group Replication)";
	}

	private static boolean isOn(String value) {
		return value.equalsIgnoreCase("ON") || value.equals("1");
	}

}
