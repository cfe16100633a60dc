package io.distributedlock.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Predicate;

import org.springframework.jdbc.core.JdbcTemplate;

/** Faults of the MariaDB server of the tests. */
final class MariaDbFaults extends JdbcFaults {

	private final boolean kills;

	MariaDbFaults(JdbcFixture fixture) {
		super(fixture);
		this.kills = fixture.url().startsWith("jdbc:mariadb:");
	}

	@Override
	ProcessHandle process() {
		Path file = Objects.requireNonNull(jdbc().queryForObject("SELECT @@datadir, @@pid_file",
				(row, number) -> Path.of(row.getString(1)).resolve(row.getString(2))));
		try {
			return ProcessHandle.of(Long.parseLong(Files.readString(file).strip())).orElseThrow();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Matches the KILL that MariaDB's own driver sends over another connection. */
	@Override
	public Optional<Predicate<byte[]>> cancellation() {
		return this.kills ? Optional.of((packet) -> new String(packet, StandardCharsets.ISO_8859_1).contains("KILL "))
				: Optional.empty();
	}

	@Override
	Object session(JdbcTemplate jdbc) {
		return Objects.requireNonNull(jdbc.queryForObject("SELECT CONNECTION_ID()", Long.class));
	}

	@Override
	void refuseWrites(JdbcTemplate jdbc, String key) {
		jdbc.execute("SET check_constraint_checks = 0");
		jdbc.execute(check(key));
	}

	@Override
	int kill(List<Object> spared) {
		int killed = 0;
		for (Long session : jdbc().queryForList("""
				SELECT id FROM information_schema.processlist
				WHERE db = DATABASE() AND id <> CONNECTION_ID()""", Long.class)) {
			if (!spared.contains(session)) {
				jdbc().execute("KILL SOFT CONNECTION " + session);
				killed++;
			}
		}
		return killed;
	}

}
