package io.distributedlock.jdbc.dialect;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class NotificationPayloadTests {

	@Test
	void payloadNamesTheReservedProcessAndTheQueue() {
		assertThat(NotificationPayload.parse("p1 p2 5 app:a key of blanks "))
			.isEqualTo(new NotificationPayload("p1", "p2", 5L, "app:a key of blanks "));
	}

	@Test
	void missingPartsAreNull() {
		assertThat(NotificationPayload.parse(LockRow.NONE + " " + LockRow.NONE + " 0 key"))
			.isEqualTo(new NotificationPayload(null, null, null, "key"));
	}

	@Test
	void otherTextIsNoPayload() {
		assertThat(NotificationPayload.parse("key")).isNull();
		assertThat(NotificationPayload.parse("a key of blanks")).isNull();
		assertThat(NotificationPayload.parse("")).isNull();
	}

}
