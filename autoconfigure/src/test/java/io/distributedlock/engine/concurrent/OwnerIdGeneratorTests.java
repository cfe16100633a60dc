package io.distributedlock.engine.concurrent;

import java.util.HashSet;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;

import static org.assertj.core.api.Assertions.assertThat;

class OwnerIdGeneratorTests {

	private static final int IDS = 50_000;

	@Test
	void idsOfManyThreadsAndGeneratorsAreDifferent() {
		OwnerIdGenerator one = new OwnerIdGenerator();
		OwnerIdGenerator other = new OwnerIdGenerator();
		Set<OwnerId> ids = IntStream.range(0, IDS)
			.parallel()
			.mapToObj((number) -> (number % 2 == 0) ? one.next() : other.next())
			.collect(Collectors.toSet());
		assertThat(ids).hasSize(IDS);
	}

	@Test
	void firstIdsAfterNewNumbersAreDifferent() {
		try (LockTimer timer = new LockTimer();
				ThreadedEnvironment environment = new ThreadedEnvironment("test", timer, new CallbackThreads(timer))) {
			Set<OwnerId> ids = new HashSet<>();
			for (int i = 0; i < 1000; i++) {
				environment.drawOwnerIds();
				ids.add(environment.newOwnerId());
			}
			assertThat(ids).hasSize(1000);
		}
	}

	@Test
	void eachHexadecimalDigitButTheLastIsAboutAsFrequentAsAnyOther() {
		OwnerIdGenerator generator = new OwnerIdGenerator();
		int[][] counts = new int[31][16];
		for (int i = 0; i < IDS; i++) {
			OwnerId id = generator.next();
			assertThat(id.isShare()).isFalse();
			String text = id.text();
			for (int place = 0; place < counts.length; place++) {
				counts[place][Character.digit(text.charAt(place), 16)]++;
			}
		}
		Set<Integer> all = new HashSet<>();
		for (int[] place : counts) {
			IntStream.of(place).forEach(all::add);
		}
		// The standard deviation is 54, so that ten of them are never reached by chance.
		assertThat(all).allSatisfy((count) -> assertThat(count).isBetween(IDS / 16 - 540, IDS / 16 + 540));
	}

}
