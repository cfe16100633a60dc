package io.distributedlock.jdbc;

import java.sql.Connection;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/** Hints for the schema scripts, and for the proxy around a connection. */
final class JdbcRuntimeHints implements RuntimeHintsRegistrar {

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		hints.resources().registerPattern("io/distributedlock/jdbc/schema-*.sql");
		hints.proxies().registerJdkProxy(Connection.class);
	}

}
