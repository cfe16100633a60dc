package io.distributedlock.sample.control;

import java.util.List;
import java.util.Set;

import org.springframework.context.annotation.Profile;
import org.springframework.jdbc.core.simple.JdbcClient;
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

	/** Opens an event. One control process at a time uses the database. */
	int openEvent(int capacity) {
		int id = this.jdbc.sql("SELECT COALESCE(MAX(id), 0) + 1 FROM sample_event").query(Integer.class).single();
		this.jdbc.sql("INSERT INTO sample_event (id, capacity) VALUES (:id, :capacity)")
			.param("id", id)
			.param("capacity", capacity)
			.update();
		return id;
	}

	SalesResult result(int eventId) {
		int capacity = this.jdbc.sql("SELECT capacity FROM sample_event WHERE id = :eventId")
			.param("eventId", eventId)
			.query(Integer.class)
			.single();
		List<Integer> seats = tickets(eventId);
		List<Long> processes = this.jdbc
			.sql("SELECT DISTINCT pid FROM sample_sale WHERE event_id = :eventId ORDER BY pid")
			.param("eventId", eventId)
			.query(Long.class)
			.list();
		int refused = this.jdbc.sql("SELECT COUNT(*) FROM sample_refusal WHERE event_id = :eventId")
			.param("eventId", eventId)
			.query(Integer.class)
			.single();
		int oversold = seats.size() - Set.copyOf(seats).size();
		return new SalesResult(oversold, seats.size(), capacity, refused, processes);
	}

	/** The seats of all tickets; a seat that was sold twice is there twice. */
	List<Integer> tickets(int eventId) {
		return this.jdbc.sql("SELECT seat FROM sample_sale WHERE event_id = :eventId")
			.param("eventId", eventId)
			.query(Integer.class)
			.list();
	}

}
