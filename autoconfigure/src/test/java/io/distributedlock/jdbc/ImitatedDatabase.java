package io.distributedlock.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.DriverPropertyInfo;
import java.sql.SQLException;
import java.util.Map;
import java.util.Properties;
import java.util.UUID;
import java.util.logging.Logger;

/**
 * Driver of databases that cannot be run here: H2 in memory that says another name and
 * version of itself.
 */
public class ImitatedDatabase implements Driver {

	private static final String PREFIX = "jdbc:imitated:";

	private static final ImitatedDatabase DRIVER = new ImitatedDatabase();

	/** Pools create a driver that is given by its name. */
	public ImitatedDatabase() {
	}

	/**
	 * Returns the URL of a database of its own.
	 * @param product the name that it says
	 * @param version its major version
	 */
	public static String url(String product, int version) {
		try {
			DriverManager.registerDriver(DRIVER);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
		return PREFIX + product + ":" + version + ":" + UUID.randomUUID();
	}

	@Override
	public Connection connect(String url, Properties info) throws SQLException {
		if (!acceptsURL(url)) {
			return null;
		}
		String[] parts = url.substring(PREFIX.length()).split(":");
		Connection connection = DriverManager.getConnection("jdbc:h2:mem:" + parts[2] + ";DB_CLOSE_DELAY=-1");
		DatabaseMetaData metaData = proxy(DatabaseMetaData.class, connection.getMetaData(),
				Map.of("getDatabaseProductName", parts[0], "getDatabaseMajorVersion", Integer.valueOf(parts[1])));
		return proxy(Connection.class, connection, Map.of("getMetaData", metaData));
	}

	private static <T> T proxy(Class<T> type, T target, Map<String, Object> answers) {
		return type
			.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (proxy, method, arguments) -> {
				Object answer = answers.get(method.getName());
				try {
					return (answer != null) ? answer : method.invoke(target, arguments);
				}
				catch (InvocationTargetException ex) {
					throw ex.getTargetException();
				}
			}));
	}

	@Override
	public boolean acceptsURL(String url) {
		return url.startsWith(PREFIX);
	}

	@Override
	public DriverPropertyInfo[] getPropertyInfo(String url, Properties info) {
		return new DriverPropertyInfo[0];
	}

	@Override
	public int getMajorVersion() {
		return 1;
	}

	@Override
	public int getMinorVersion() {
		return 0;
	}

	@Override
	public boolean jdbcCompliant() {
		return false;
	}

	@Override
	public Logger getParentLogger() {
		return Logger.getLogger("imitated");
	}

}
