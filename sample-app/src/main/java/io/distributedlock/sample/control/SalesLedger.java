package io.distributedlock.sample.control;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

import org.springframework.context.annotation.Profile;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.GeneratedKeyHolder;
import org.springframework.stereotype.Repository;

import io.distributedlock.sample.SampleApplication;

/**
 * Statements of the control process on the shared database.
 */
@Repository
@Profile("!" + SampleApplication.WORKER)
class SalesLedger {

	private final JdbcClient jdbc;

	SalesLedger(JdbcClient jdbc) {
		this.jdbc = jdbc;
	}

	int openEvent(int capacity) {
		GeneratedKeyHolder id = new GeneratedKeyHolder();
		this.jdbc.sql("INSERT INTO event (capacity) VALUES (:capacity)").param("capacity", capacity).update(id, "id");
		return Objects.requireNonNull(id.getKey()).intValue();
	}

	SalesResult result(int eventId) {
		int capacity = this.jdbc.sql("SELECT capacity FROM event WHERE id = :eventId")
			.param("eventId", eventId)
			.query(Integer.class)
			.single();
		List<Integer> seats = this.jdbc.sql("SELECT seat FROM sale WHERE event_id = :eventId")
			.param("eventId", eventId)
			.query(Integer.class)
			.list();
		List<Long> processes = this.jdbc.sql("SELECT DISTINCT pid FROM sale WHERE event_id = :eventId ORDER BY pid")
			.param("eventId", eventId)
			.query(Long.class)
			.list();
		int refused = this.jdbc.sql("SELECT COUNT(*) FROM refusal WHERE event_id = :eventId")
			.param("eventId", eventId)
			.query(Integer.class)
			.single();
		int oversold = seats.size() - Set.copyOf(seats).size();
		return new SalesResult(oversold, seats.size(), capacity, refused, processes);
	}

	/** The ports of the workers' web servers by process id, of those that are ready. */
	Map<Long, Integer> workerPorts() {
		return this.jdbc.sql("SELECT pid, port FROM worker")
			.query((row, number) -> Map.entry(row.getLong(1), row.getInt(2)))
			.list()
			.stream()
			.collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
	}

	Set<Long> finishedWorkers(int eventId) {
		return this.jdbc.sql("SELECT pid FROM shift WHERE event_id = :eventId")
			.param("eventId", eventId)
			.query(Long.class)
			.set();
	}

}
