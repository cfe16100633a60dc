package io.distributedlock.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import javax.sql.DataSource;

import org.springframework.jdbc.datasource.AbstractDataSource;

/** Data source that counts the statements of its connections. */
class CountingDataSource extends AbstractDataSource {

	private final DataSource target;

	private final Queue<String> statements = new ConcurrentLinkedQueue<>();

	private List<String> last = List.of();

	CountingDataSource(DataSource target) {
		this.target = target;
	}

	int resetCount() {
		this.last = new ArrayList<>(this.statements);
		this.statements.clear();
		return this.last.size();
	}

	List<String> lastStatements() {
		return this.last;
	}

	@Override
	public Connection getConnection() throws SQLException {
		Connection connection = this.target.getConnection();
		return (Connection) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Connection.class },
				(proxy, method, arguments) -> {
					if (method.getName().startsWith("prepare") || method.getName().equals("createStatement")) {
						this.statements.add((arguments != null) ? (String) arguments[0] : "createStatement");
					}
					try {
						return method.invoke(connection, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				});
	}

	@Override
	public Connection getConnection(String username, String password) throws SQLException {
		throw new UnsupportedOperationException();
	}

}
