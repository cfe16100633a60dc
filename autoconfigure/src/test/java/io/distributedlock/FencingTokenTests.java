package io.distributedlock;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class FencingTokenTests {

	@Test
	void laterTokenIsGreaterAndALaterOrderGreaterStill() {
		FencingToken first = FencingToken.of(7, 0);
		FencingToken second = FencingToken.of(7, 1);
		FencingToken last = FencingToken.of(7, 1000);
		FencingToken next = FencingToken.of(8, 0);
		assertThat(first).isLessThan(second);
		assertThat(second).isLessThan(last);
		assertThat(last).isLessThan(next);
		assertThat(last.order()).isEqualTo(7);
		assertThat(next.order()).isEqualTo(8);
	}

	@Test
	void highestTokenFitsAndSortsAsText() {
		FencingToken highest = FencingToken.of(FencingToken.MAX_ORDER, 1000);
		assertThat(highest.order()).isEqualTo(FencingToken.MAX_ORDER);
		assertThat(highest.toSortableText()).hasSize(19).isEqualTo(highest.toString());
		FencingToken lowest = FencingToken.of(1, 0);
		assertThat(lowest.toSortableText()).isEqualTo("0000000000000001024").isLessThan(highest.toSortableText());
		assertThat(lowest).hasToString("1024");
	}

	@Test
	void valueOutOfRangeIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> new FencingToken(0));
		assertThatIllegalArgumentException().isThrownBy(() -> FencingToken.of(0, 0));
		assertThatIllegalArgumentException().isThrownBy(() -> FencingToken.of(FencingToken.MAX_ORDER + 1, 0));
		assertThatIllegalArgumentException().isThrownBy(() -> FencingToken.of(1, -1));
		assertThatIllegalArgumentException().isThrownBy(() -> FencingToken.of(1, 1001));
	}

}
