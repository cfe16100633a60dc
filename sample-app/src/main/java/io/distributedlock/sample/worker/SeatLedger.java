package io.distributedlock.sample.worker;

import org.springframework.context.annotation.Profile;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

import io.distributedlock.FencingToken;
import io.distributedlock.sample.SampleApplication;

/**
 * Statements of a worker on the shared database.
 */
@Repository
@Profile(SampleApplication.WORKER)
class SeatLedger {

	static final long NO_TOKEN = 0;

	private final JdbcClient jdbc;

	private final long pid = ProcessHandle.current().pid();

	SeatLedger(JdbcClient jdbc) {
		this.jdbc = jdbc;
	}

	Seats seats(int eventId) {
		return this.jdbc.sql("SELECT sold, capacity FROM sample_event WHERE id = :eventId")
			.param("eventId", eventId)
			.query(Seats.class)
			.optional()
			.orElse(Seats.NONE);
	}

	/**
	 * Sells the seat, unless a later holder of the lock has written: the decision of a
	 * holder that was paused past its lease must not overwrite a later one.
	 */
	void sellFenced(int eventId, int seat, FencingToken token) {
		int updated = this.jdbc
			.sql("UPDATE sample_event SET sold = :seat, fence = :token WHERE id = :eventId AND fence <= :token")
			.param("seat", seat)
			.param("token", token.value())
			.param("eventId", eventId)
			.update();
		if (updated == 0) {
			throw new StaleSaleException(eventId, seat, token);
		}
		insert("sample_sale", eventId, seat, token.value());
	}

	/** Sells the seat, whatever other processes have written meanwhile. */
	void sell(int eventId, int seat, long token) {
		this.jdbc.sql("UPDATE sample_event SET sold = :seat WHERE id = :eventId")
			.param("seat", seat)
			.param("eventId", eventId)
			.update();
		insert("sample_sale", eventId, seat, token);
	}

	void reportRefused(int eventId, StaleSaleException refusal) {
		insert("sample_refusal", eventId, refusal.seat(), refusal.token().value());
	}

	private void insert(String table, int eventId, int seat, long token) {
		this.jdbc.sql("INSERT INTO " + table + " (event_id, seat, pid, token) VALUES (:eventId, :seat, :pid, :token)")
			.param("eventId", eventId)
			.param("seat", seat)
			.param("pid", this.pid)
			.param("token", token)
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
