package io.distributedlock.zookeeper.node;

import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests of {@link WaitQueueOrder}. */
class WaitQueueOrderTests {

	@Test
	void entriesAreSortedBySequenceNumberAndNotBySession() {
		assertThat(WaitQueueOrder.sort(List.of("1-0000000012", "ff00ff00ff00ff00-0000000002", "2-0000000009")))
			.containsExactly("ff00ff00ff00ff00-0000000002", "2-0000000009", "1-0000000012");
	}

	@Test
	void nodesThatAreNotEntriesAreIgnored() {
		assertThat(WaitQueueOrder.sort(List.of("junk", "0-not-a-number", "1-123", "g-0000000001", "-0000000001",
				"1-00000000010", "1-0000000001")))
			.containsExactly("1-0000000001");
	}

	@Test
	void prefixIsTheSessionInHexadecimalDigits() {
		assertThat(WaitQueueOrder.prefix(0x1ab)).isEqualTo("1ab-");
		assertThat(WaitQueueOrder.sort(List.of(WaitQueueOrder.prefix(-1) + "0000000001"))).hasSize(1);
	}

}
