package io.distributedlock.jdbc.dialect;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * Properties with which a driver opens connections of the locks' own pool. They are
 * chosen by the subprotocol of the JDBC URL, because they bound the first connection too,
 * when the server has not yet said what it is.
 */
public final class DriverProperties {

	private static final List<String> SUBPROTOCOLS = List.of("h2", "mariadb", "mysql", "postgresql");

	private static final String SOCKET_FACTORY = "socketFactory";

	private static final String FACTORY = NotificationSocketFactory.class.getName();

	private DriverProperties() {
	}

	/**
	 * Returns the properties, without those that the URL has itself.
	 * @param url the JDBC URL, or {@code null} if a {@code DataSource} opens the
	 * connections
	 */
	public static Map<String, String> of(@Nullable String url, Duration callTimeout) {
		if (url == null) {
			return Map.of();
		}
		return properties(url.toLowerCase(Locale.ROOT), callTimeout).entrySet()
			.stream()
			.filter((property) -> !has(url, property.getKey()))
			.collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
	}

	/**
	 * Returns the properties with which a driver opens the connection that listens for
	 * notifications. An application may have a socket factory of its own in the URL, or
	 * in a service that the URL names. A driver that does not load classes of the
	 * application, such as one of a container, could not create another one.
	 * @param url the JDBC URL, or {@code null} if a {@code DataSource} opens the
	 * connections
	 */
	public static Map<String, String> ofListener(@Nullable String url) {
		boolean suits = url != null && subprotocol(url.toLowerCase(Locale.ROOT)).equals("postgresql")
				&& !has(url, SOCKET_FACTORY) && !has(url, "service") && PostgresDialect.driverLoads(FACTORY);
		return suits ? Map.of(SOCKET_FACTORY, FACTORY) : Map.of();
	}

	/**
	 * Whether a JDBC URL names a driver of a database that is supported. A connection
	 * tells what any other one leads to.
	 * @param url the JDBC URL, or {@code null} if a {@code DataSource} opens the
	 * connections
	 */
	public static boolean isKnown(@Nullable String url) {
		return url != null && !subprotocol(url.toLowerCase(Locale.ROOT)).isEmpty();
	}

	private static Map<String, String> properties(String url, Duration callTimeout) {
		long millis = Math.max(callTimeout.toMillis(), 1);
		return switch (subprotocol(url)) {
			// An abort cannot end a read from a remote database, which would otherwise
			// keep its thread and connection for ever.
			case "h2" -> (url.contains("h2:tcp:") || url.contains("h2:ssl:"))
					? Map.of("NETWORK_TIMEOUT", Long.toString(millis)) : Map.of();
			// MariaDB's driver aborts over a new connection, so opening one is bounded.
			// The
			// server prepares statements: it would parse 5 KB for an attempt otherwise.
			case "mariadb" -> Map.of("connectTimeout", connectTimeout(millis), "useServerPrepStmts", "true");
			case "mysql" -> Map.of("connectTimeout", connectTimeout(millis), "useServerPrepStmts", "true",
					"cachePrepStmts", "true", "prepStmtCacheSqlLimit", "16384");
			// In seconds
			case "postgresql" -> Map.of("loginTimeout", Long.toString((millis + 999) / 1000));
			default -> Map.of();
		};
	}

	private static String connectTimeout(long callMillis) {
		return Long.toString(Math.max(callMillis / 4, 100));
	}

	/**
	 * Returns the subprotocol of the driver that connects, which may be wrapped by
	 * others, as in {@code jdbc:p6spy:h2:mem:test}.
	 */
	private static String subprotocol(String url) {
		for (String part : url.split("/", 2)[0].split(":", -1)) {
			String name = part.split("\\+", 2)[0];
			if (SUBPROTOCOLS.contains(name)) {
				return name;
			}
		}
		return "";
	}

	private static boolean has(String url, String property) {
		return Pattern.compile("[?&;(]" + property + "=", Pattern.CASE_INSENSITIVE).matcher(url).find();
	}

}
