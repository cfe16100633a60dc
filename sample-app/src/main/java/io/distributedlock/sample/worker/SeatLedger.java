package io.distributedlock.sample.worker;

import org.springframework.context.annotation.Profile;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

import io.distributedlock.sample.SampleApplication;

/**
 * Statements of a worker on the shared database.
 */
@Repository
@Profile(SampleApplication.WORKER)
class SeatLedger {

	private final JdbcClient jdbc;

	private final long pid = ProcessHandle.current().pid();

	SeatLedger(JdbcClient jdbc) {
		this.jdbc = jdbc;
	}

	Seats seats(int eventId) {
		return this.jdbc.sql("SELECT sold, capacity FROM event WHERE id = :eventId")
			.param("eventId", eventId)
			.query(Seats.class)
			.optional()
			.orElse(Seats.NONE);
	}

	/**
	 * Sells the seat, unless a later holder of the lock has written: the decision of a
	 * holder that was paused past its lease must not overwrite a later one.
	 */
	void sell(int eventId, int seat, long token) {
		int updated = this.jdbc
			.sql("UPDATE event SET sold = :seat, fence = :token WHERE id = :eventId AND fence <= :token")
			.param("seat", seat)
			.param("token", token)
			.param("eventId", eventId)
			.update();
		if (updated == 0) {
			throw new StaleSaleException(eventId, seat, token);
		}
		this.jdbc.sql("INSERT INTO sale (event_id, seat, pid, token) VALUES (:eventId, :seat, :pid, :token)")
			.param("eventId", eventId)
			.param("seat", seat)
			.param("pid", this.pid)
			.param("token", token)
			.update();
	}

	void reportRefused(int eventId, StaleSaleException refusal) {
		this.jdbc.sql("INSERT INTO refusal (event_id, seat, pid, token) VALUES (:eventId, :seat, :pid, :token)")
			.param("eventId", eventId)
			.param("seat", refusal.seat())
			.param("pid", this.pid)
			.param("token", refusal.token())
			.update();
	}

	/**
	 * Reports that this worker takes commands.
	 * @param port the port of its web server
	 */
	void reportReady(int port) {
		this.jdbc.sql("INSERT INTO worker (pid, port) VALUES (:pid, :port)")
			.param("pid", this.pid)
			.param("port", port)
			.update();
	}

	void reportDone(int eventId) {
		this.jdbc.sql("INSERT INTO shift (event_id, pid) VALUES (:eventId, :pid)")
			.param("eventId", eventId)
			.param("pid", this.pid)
			.update();
	}

	/** Number of sold seats and of all seats of an event. */
	record Seats(int sold, int capacity) {

		static final Seats NONE = new Seats(0, 0);

		boolean soldOut() {
			return this.sold >= this.capacity;
		}

		int next() {
			return this.sold + 1;
		}

	}

}
