package io.distributedlock.jdbc;

import java.sql.Connection;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

import io.distributedlock.jdbc.dialect.NotificationSocketFactory;

/**
 * Hints for the schema scripts, for the socket factory that a driver creates, and for the
 * proxy around a connection.
 */
final class JdbcRuntimeHints implements RuntimeHintsRegistrar {

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		hints.resources().registerPattern("io/distributedlock/jdbc/schema-*.sql");
		hints.reflection().registerType(NotificationSocketFactory.class, MemberCategory.INVOKE_PUBLIC_CONSTRUCTORS);
		hints.proxies().registerJdkProxy(Connection.class);
	}

}
