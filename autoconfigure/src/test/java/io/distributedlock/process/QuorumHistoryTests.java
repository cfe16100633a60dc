package io.distributedlock.process;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.distributedlock.redis.TestRedis;
import io.distributedlock.redis.quorum.QuorumServers;
import io.distributedlock.testkit.Soak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The history of two processes that contend for one lock of a quorum of five servers,
 * while these are killed, frozen and restarted without data.
 */
@Tag("matrix")
class QuorumHistoryTests {

	private static final Log logger = LogFactory.getLog(QuorumHistoryTests.class);

	private static final Duration MAX_LEASE = Duration.ofSeconds(1);

	private static final int NODES = 5;

	private static final int PROCESSES = 2;

	private static final int THREADS = 8;

	/** So many before the faults, and after them. */
	private static final int FEWEST_WRITES = 20;

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	@Test
	@Timeout(value = 5, unit = TimeUnit.MINUTES)
	void tokensRiseAndNoStaleWriteIsAdmitted() throws Exception {
		runWithFaults(Duration.ofSeconds(10));
	}

	@Test
	@Soak
	void tokensRiseAndNoStaleWriteIsAdmittedForLong() throws Exception {
		runWithFaults(Duration.ofSeconds(60));
	}

	private static void runWithFaults(Duration time) throws Exception {
		List<Hold> holds = new ArrayList<>();
		try (QuorumServers servers = new QuorumServers(NODES, 0);
				FencedCounter counter = new FencedCounter(TestRedis.port(), QuorumHolderMain.PREFIX)) {
			counter.clear();
			List<String> arguments = new ArrayList<>(List.of(Long.toString(MAX_LEASE.toMillis()),
					Integer.toString(THREADS), Integer.toString(TestRedis.port())));
			servers.ports().forEach((port) -> arguments.add(Integer.toString(port)));
			List<LockProcess> processes = new ArrayList<>();
			try {
				for (int number = 0; number < PROCESSES; number++) {
					processes.add(LockProcess.start(QuorumHolderMain.class, arguments));
				}
				// Not before the servers have run for long enough.
				awaitWrites(counter, FEWEST_WRITES);
				disturb(servers, time);
				awaitWrites(counter, counter.log().size() + FEWEST_WRITES);
				processes.forEach((process) -> process.send("stop"));
				for (LockProcess process : processes) {
					holds.addAll(history(process));
				}
			}
			finally {
				processes.forEach(LockProcess::close);
			}
		}
		check(holds);
	}

	private static void awaitWrites(FencedCounter counter, int writes) {
		await().atMost(PATIENCE).until(() -> counter.log().size() >= writes);
	}

	private static List<Hold> history(LockProcess process) {
		List<Hold> holds = Stream.of(process.answer().split(","))
			.filter((text) -> !text.isEmpty())
			.map(Hold::parse)
			.toList();
		assertThat(holds).as("holds of a process").isNotEmpty();
		return holds;
	}

	/** Kills or freezes one node or two at a time, seldom three. */
	private static void disturb(QuorumServers servers, Duration time) throws Exception {
		long seed = System.nanoTime();
		logger.info("Faults by the seed " + seed);
		Random random = new Random(seed);
		int kills = 0;
		int freezes = 0;
		long start = System.nanoTime();
		while (System.nanoTime() - start < time.toNanos()) {
			int node = random.nextInt(NODES);
			if (kills == 0 || random.nextInt(3) == 0) {
				servers.kill(node);
				TimeUnit.MILLISECONDS.sleep(random.nextInt(500));
				servers.restart(node);
				TimeUnit.MILLISECONDS.sleep(random.nextInt(3000));
				kills++;
			}
			else {
				try (AutoCloseable first = servers.freeze(node);
						AutoCloseable second = servers.freeze((node + 1 + random.nextInt(NODES - 1)) % NODES)) {
					TimeUnit.MILLISECONDS.sleep(random.nextInt(2500));
				}
				freezes++;
			}
		}
		logger.info(kills + " restarts of one node, " + freezes + " freezes of two");
	}

	private static void check(List<Hold> holds) {
		holds.sort(Comparator.comparingLong(Hold::token));
		long written = holds.stream().filter(Hold::written).count();
		long lost = holds.stream().filter((hold) -> !hold.held()).count();
		logger.info(holds.size() + " holds, " + written + " writes, " + lost + " lost while they wrote");
		assertThat(holds).hasSizeGreaterThanOrEqualTo(2 * FEWEST_WRITES);
		assertThat(holds).extracting(Hold::token).doesNotHaveDuplicates();
		// By rising tokens, none was requested after a hold with a higher one had begun.
		long earliestLater = Long.MAX_VALUE;
		long origin = holds.get(0).requested();
		for (int index = holds.size() - 1; index >= 0; index--) {
			Hold hold = holds.get(index);
			assertThat(hold.requested() - origin).as("request of %s before the begin of any with a higher token", hold)
				.isLessThanOrEqualTo(earliestLater);
			earliestLater = Math.min(earliestLater, hold.begin() - origin);
		}
		Hold last = null;
		for (Hold hold : holds.stream().filter(Hold::held).toList()) {
			if (last != null) {
				assertThat(hold.begin() - last.end()).as("%s begins after the end of %s", hold, last).isNotNegative();
			}
			last = hold;
		}
		try (FencedCounter counter = new FencedCounter(TestRedis.port(), QuorumHolderMain.PREFIX)) {
			assertThat(counter.log()).isSorted();
			assertThat(counter.value()).as("the counter, of which no write was lost").isEqualTo(counter.log().size());
			assertThat((long) counter.log().size()).isGreaterThanOrEqualTo(written);
		}
	}

	/** One hold, in nanoseconds of the clock that the JVMs of a machine share. */
	private record Hold(long requested, long begin, long end, boolean held, long token, boolean written) {

		static Hold parse(String text) {
			String[] parts = text.split(":");
			return new Hold(Long.parseLong(parts[0]), Long.parseLong(parts[1]), Long.parseLong(parts[2]),
					Boolean.parseBoolean(parts[3]), Long.parseLong(parts[4]), Boolean.parseBoolean(parts[5]));
		}

	}

}
