package io.distributedlock.sample.worker;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabase;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;

import io.distributedlock.FencingToken;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class SeatLedgerTests {

	private static final int EVENT = 1;

	private EmbeddedDatabase database;

	private JdbcClient jdbc;

	private SeatLedger ledger;

	@BeforeEach
	void openEvent() {
		this.database = new EmbeddedDatabaseBuilder().generateUniqueName(true)
			.setType(EmbeddedDatabaseType.H2)
			.addScript("schema.sql")
			.build();
		this.jdbc = JdbcClient.create(this.database);
		this.jdbc.sql("INSERT INTO sample_event (id, capacity) VALUES (1, 50)").update();
		this.ledger = new SeatLedger(this.jdbc);
	}

	@AfterEach
	void closeDatabase() {
		this.database.shutdown();
	}

	@Test
	void saleIsRecordedWithTheTokenAndTheProcessThatMadeIt() {
		this.ledger.sellFenced(EVENT, 1, new FencingToken(7_000_000_000L));
		assertThat(this.ledger.seats(EVENT).sold()).isEqualTo(1);
		assertThat(this.jdbc.sql("SELECT seat, pid, token FROM sample_sale").query().listOfRows()).singleElement()
			.satisfies((sale) -> assertThat(sale).containsEntry("seat", 1)
				.containsEntry("pid", ProcessHandle.current().pid())
				.containsEntry("token", 7_000_000_000L));
	}

	@Test
	void holderMaySellAgainWithItsToken() {
		this.ledger.sellFenced(EVENT, 1, new FencingToken(7L));
		this.ledger.sellFenced(EVENT, 2, new FencingToken(7L));
		assertThat(this.ledger.seats(EVENT).sold()).isEqualTo(2);
	}

	@Test
	void lateWriteOfAnEarlierHolderIsRefused() {
		this.ledger.sellFenced(EVENT, 1, new FencingToken(8L));
		assertThatExceptionOfType(StaleSaleException.class)
			.isThrownBy(() -> this.ledger.sellFenced(EVENT, 1, new FencingToken(7L)));
		assertThat(this.ledger.seats(EVENT).sold()).isEqualTo(1);
		assertThat(this.jdbc.sql("SELECT token FROM sample_sale").query(Long.class).list()).containsExactly(8L);
	}

	@Test
	void unknownEventHasNoSeats() {
		assertThat(this.ledger.seats(EVENT + 1).soldOut()).isTrue();
	}

}
