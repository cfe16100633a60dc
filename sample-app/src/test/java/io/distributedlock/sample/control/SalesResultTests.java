package io.distributedlock.sample.control;

import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class SalesResultTests {

	@Test
	void saysHowManyTicketsWereTooMany() {
		assertThat(new SalesResult(3, 53, 50, 0, List.of()).inTickets())
			.isEqualTo("53 tickets for 50 seats: 3 too many.");
	}

	@Test
	void saysThatEachSeatWasSoldOnceOnlyIfAllWereSold() {
		assertThat(new SalesResult(0, 50, 50, 0, List.of()).inTickets())
			.isEqualTo("50 tickets for 50 seats: each seat was sold once.");
		assertThat(new SalesResult(0, 49, 50, 0, List.of()).inTickets())
			.isEqualTo("49 tickets for 50 seats: none was sold twice.");
	}

}
