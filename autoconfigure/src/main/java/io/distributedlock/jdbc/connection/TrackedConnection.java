package io.distributedlock.jdbc.connection;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

/**
 * Loan of a connection that remembers its last statement, so that another thread can
 * cancel it, and whether the loan has ended: some pools fail at the second end of a loan,
 * and the thread of a call and that of its abort may both come to it.
 */
class TrackedConnection implements InvocationHandler {

	final Connection target;

	private final AtomicBoolean ended = new AtomicBoolean();

	private volatile @Nullable Statement statement;

	TrackedConnection(Connection target) {
		this.target = target;
	}

	/** Returns the connection whose statements are tracked. */
	final Connection proxy() {
		return (Connection) Proxy.newProxyInstance(TrackedConnection.class.getClassLoader(),
				new Class<?>[] { Connection.class }, this);
	}

	private static TrackedConnection of(Connection connection) {
		return (TrackedConnection) Proxy.getInvocationHandler(connection);
	}

	/** Returns the last statement of a connection. */
	static @Nullable Statement statement(Connection connection) {
		return of(connection).statement;
	}

	/** Returns the connection of the pool. */
	static Connection target(Connection connection) {
		return of(connection).target;
	}

	/**
	 * Ends the loan of a connection.
	 * @return whether it had not ended yet
	 */
	static boolean end(Connection connection) {
		return of(connection).ended.compareAndSet(false, true);
	}

	@Override
	public @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] arguments)
			throws Throwable {
		try {
			Object result = method.invoke(this.target, arguments);
			if (result instanceof Statement created) {
				onCreated(created);
			}
			return result;
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
	}

	void onCreated(Statement created) {
		this.statement = created;
	}

}
