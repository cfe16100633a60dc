package io.distributedlock.fencing;

import java.util.IdentityHashMap;
import java.util.Map;

import javax.sql.DataSource;

import org.springframework.jdbc.datasource.ConnectionHolder;

/** The connections that transactions have bound to a thread. */
final class BoundConnections {

	private BoundConnections() {
	}

	static IdentityHashMap<DataSource, ConnectionHolder> of(Map<Object, Object> resources) {
		IdentityHashMap<DataSource, ConnectionHolder> bound = new IdentityHashMap<>(4);
		resources.forEach((key, value) -> {
			if (key instanceof DataSource dataSource && value instanceof ConnectionHolder holder) {
				bound.put(dataSource, holder);
			}
		});
		return bound;
	}

}
