package io.distributedlock.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.params.SetParams;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ProcessLabel;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.provider.StoredLock;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.testkit.TcpProxy;
import io.distributedlock.testkit.TimeBounds;
import io.distributedlock.testkit.WireFault;

import static io.distributedlock.testkit.StoreCalls.outcomeOf;
import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests of shares on a standalone server, besides the contract.
 */
class RedisShareTests {

	private static final LockKey KEY = LockKey.of("orders", "42");

	private static final int UNLIMITED = Integer.MAX_VALUE;

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	@RegisterExtension
	private final RedisProcesses processes = new RedisProcesses();

	private final Jedis admin = this.processes.closing(TestRedis.emptied());

	private final byte[] lock = RedisProcesses.LAYOUT.lock(KEY);

	private RedisLockProvider process() {
		return this.processes.provider(TestRedis.lettuce(TestRedis.port()));
	}

	private static LockContender enter(RedisLockProvider process, int limit) {
		return process.newShareContender(KEY, limit, () -> {
			// The tests attempt by themselves.
		});
	}

	private static AttemptResult attempt(LockContender contender, boolean willWait) {
		return attempt(contender, RedisProcesses.LEASE, willWait);
	}

	private static AttemptResult attempt(LockContender contender, Duration lease, boolean willWait) {
		return resultOf(contender.attempt(OwnerId.random().ofShare(true), lease, willWait, RedisProcesses.TIMEOUT),
				RedisProcesses.TIMEOUT);
	}

	private static LockGrant acquire(RedisLockProvider process) {
		return RedisProcesses.granted(attempt(enter(process, UNLIMITED), false));
	}

	private static void enqueue(LockContender contender) {
		assertThat(attempt(contender, true)).isInstanceOf(AttemptResult.Busy.class);
	}

	private String value() {
		return new String(this.admin.get(this.lock), StandardCharsets.UTF_8);
	}

	@Test
	void sharesFollowTheHeaderAndPrecedeTheQueue() {
		RedisLockProvider process = process();
		LockGrant first = acquire(process);
		LockGrant second = acquire(process);
		RedisLockProvider writer = process();
		RedisProcesses.enqueue(RedisProcesses.enter(writer, KEY));
		String label = new String(RedisLayout.label(ProcessLabel.get()), StandardCharsets.UTF_8);
		assertThat(value()).matches("0{32}S\\d{32}" + first.owner() + "H\\d{26}\\Q" + label + "\\E" + first.order()
				+ second.owner() + "H\\d{26}\\Q" + label + "\\E" + second.order() + writer.process() + "\\d{16}");
		assertThat(this.admin.pttl(this.lock)).isBetween(RedisProcesses.LEASE.toMillis() - 20_000,
				RedisProcesses.LEASE.toMillis());
	}

	@Test
	void endedShareIsDroppedAndCountsNoMore() {
		RedisLockProvider process = process();
		LockContender contender = enter(process, 2);
		LockGrant ended = RedisProcesses.granted(attempt(contender, Duration.ofMillis(200), false));
		LockGrant other = RedisProcesses.granted(attempt(contender, false));
		LockGrant[] third = new LockGrant[1];
		await().atMost(PATIENCE).until(() -> {
			AttemptResult result = attempt(contender, false);
			if (result instanceof AttemptResult.Granted granted) {
				third[0] = granted.grant();
			}
			return third[0] != null;
		});
		assertThat(value()).doesNotContain(ended.owner().text()).contains(other.owner().text());
		assertThat(attempt(contender, false)).isInstanceOf(AttemptResult.Busy.class);
		assertThat(RedisProcesses.release(process, ended)).isEqualTo(ReleaseOutcome.NOT_HELD);
		assertThat(RedisProcesses.release(process, third[0])).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(value()).contains(other.owner().text());
	}

	@Test
	void keyExpiresWithTheLastShareThatIsLeft() {
		RedisLockProvider process = process();
		RedisProcesses.granted(attempt(enter(process, UNLIMITED), Duration.ofMinutes(1), false));
		LockGrant longer = RedisProcesses.granted(attempt(enter(process, UNLIMITED), Duration.ofHours(1), false));
		assertThat(this.admin.pttl(this.lock)).isGreaterThan(Duration.ofMinutes(2).toMillis());
		RedisProcesses.release(process, longer);
		assertThat(this.admin.pttl(this.lock)).isBetween(1L, Duration.ofMinutes(1).toMillis());
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void longQueueLosesItsOlderHalf(boolean share) {
		acquire(process());
		String header = value();
		StringBuilder full = new StringBuilder(header);
		long first = System.currentTimeMillis() * 1000 - RedisLayout.MOST_ENTRIES;
		for (int number = 0; number < RedisLayout.MOST_ENTRIES; number++) {
			full.append(OwnerId.random().text()).append(first + number);
		}
		this.admin.set(this.lock, RedisLayout.bytes(full.toString()), SetParams.setParams().px(30_000));
		RedisLockProvider process = process();
		if (share) {
			enqueue(enter(process, UNLIMITED));
		}
		else {
			RedisProcesses.enqueue(RedisProcesses.enter(process, KEY));
		}
		int half = full.length() - (RedisLayout.MOST_ENTRIES / 2) * (RedisLayout.ID_LENGTH + 16);
		assertThat(value()).hasSize(full.length() - half + header.length() + RedisLayout.ID_LENGTH + 16)
			.contains(full.substring(half));
	}

	@Test
	void stepsForExclusiveOwnersLeaveASharedLockAlone() {
		RedisLockProvider process = process();
		acquire(process);
		String before = value();
		LockGrant stranger = new LockGrant(KEY, OwnerId.random(), 1, RedisProcesses.LEASE);
		assertThat(RedisProcesses.release(process, stranger)).isEqualTo(ReleaseOutcome.NOT_HELD);
		assertThat(outcomeOf(process.release(KEY, stranger.owner(), Duration.ofMinutes(1), RedisProcesses.TIMEOUT),
				RedisProcesses.TIMEOUT))
			.isEqualTo(ReleaseOutcome.NOT_HELD);
		assertThat(RedisProcesses.renew(process, stranger)).isEqualTo(RenewalOutcome.NOT_HELD);
		assertThat(RedisProcesses.attempt(process, KEY)).isInstanceOfSatisfying(AttemptResult.Busy.class,
				(busy) -> assertThat(busy.holder()).isNotNull());
		assertThat(value()).isEqualTo(before);
	}

	@Test
	void fullMemoryRefusesGrantsAndQueueEntriesOnly() {
		RedisLockProvider process = process();
		LockGrant first = acquire(process);
		LockGrant second = acquire(process);
		LockContender writer = RedisProcesses.enter(process(), KEY);
		this.admin.configSet("maxmemory", "1");
		try {
			assertThat(RedisProcesses.enqueue(writer)).isInstanceOf(AttemptResult.Busy.class);
			assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> acquire(process))
				.withMessageContaining("OOM")
				.satisfies((ex) -> assertThat(ex.isEffectUnknown()).isFalse());
			String before = value();
			assertThat(RedisProcesses.renew(process, first)).isEqualTo(RenewalOutcome.RENEWED);
			assertThat(value()).isNotEqualTo(before);
			assertThat(RedisProcesses.release(process, first)).isEqualTo(ReleaseOutcome.RELEASED);
			assertThat(RedisProcesses.release(process, second)).isEqualTo(ReleaseOutcome.RELEASED);
			assertThat(this.admin.exists(this.lock)).isFalse();
		}
		finally {
			this.admin.configSet("maxmemory", "0");
		}
	}

	@Test
	void eachGrantedShareNotifiesTheNext() {
		RedisLockProvider writer = process();
		LockGrant exclusive = RedisProcesses.acquire(writer, KEY);
		Queue<LockContender> notified = new ConcurrentLinkedQueue<>();
		List<LockContender> readers = new ArrayList<>();
		for (int number = 0; number < 3; number++) {
			LockContender[] own = new LockContender[1];
			own[0] = process().newShareContender(KEY, UNLIMITED, () -> notified.add(own[0]));
			readers.add(own[0]);
			enqueue(own[0]);
		}
		// The confirmation of each subscription has signalled, too.
		notified.clear();
		RedisProcesses.release(writer, exclusive);
		List<LockContender> granted = new ArrayList<>();
		await().atMost(PATIENCE).pollInterval(Duration.ofMillis(5)).until(() -> {
			LockContender next = notified.poll();
			if (next != null && attempt(next, true) instanceof AttemptResult.Granted) {
				granted.add(next);
			}
			return granted.size() == readers.size();
		});
		assertThat(granted).containsExactlyInAnyOrderElementsOf(readers);
	}

	@Test
	void releasedPermitNotifiesAContenderForSharesAndNoOther() {
		RedisLockProvider holder = process();
		AtomicInteger writerNotified = new AtomicInteger();
		LockGrant permit = RedisProcesses.granted(attempt(enter(holder, 2), false));
		LockGrant further = RedisProcesses.granted(attempt(enter(holder, 2), false));
		AtomicInteger notified = new AtomicInteger();
		RedisLockProvider waiting = process();
		LockContender reader = waiting.newShareContender(KEY, 2, notified::incrementAndGet);
		enqueue(reader);
		int before = notified.get();
		RedisProcesses.enqueue(waiting.newContender(KEY, writerNotified::incrementAndGet));
		int writerBefore = writerNotified.get();
		RedisProcesses.release(holder, permit);
		await().atMost(PATIENCE).until(() -> notified.get() > before);
		await().atMost(PATIENCE).until(() -> attempt(reader, true) instanceof AttemptResult.Granted);
		RedisProcesses.release(holder, further);
		assertThat(writerNotified).hasValue(writerBefore);
	}

	@Test
	void processThatHasDiedInTheQueueHoldsSharesBackForItsTurnOnly() {
		LockGrant share = acquire(process());
		RedisLockProvider dead = process();
		long queued = System.nanoTime();
		RedisProcesses.enqueue(RedisProcesses.enter(dead, KEY));
		RedisLockProvider reader = process();
		LockContender contender = enter(reader, UNLIMITED);
		enqueue(contender);
		await().atMost(PATIENCE).until(() -> attempt(contender, true) instanceof AttemptResult.Granted);
		assertThat(Duration.ofNanos(System.nanoTime() - queued)).isGreaterThan(Duration.ofMillis(2500));
		assertThat(RedisProcesses.renew(reader, share)).isEqualTo(RenewalOutcome.RENEWED);
	}

	@Test
	void contendersWithSeveralLimitsDoNotDisturbEachOther() {
		RedisLockProvider writer = process();
		LockGrant exclusive = RedisProcesses.acquire(writer, KEY);
		RedisLockProvider both = process();
		LockContender permits = enter(both, 5);
		LockContender readers = enter(both, UNLIMITED);
		enqueue(permits);
		enqueue(readers);
		outcomeOf(permits.withdraw(RedisProcesses.TIMEOUT), RedisProcesses.TIMEOUT);
		RedisProcesses.release(writer, exclusive);
		RedisProcesses.granted(attempt(readers, true));
		assertThat(both.contenders().size()).isZero();
	}

	@Test
	@Tag("full")
	void shareOfAProcessThatIsCutOffEndsAlone() {
		Duration leaseTime = TimeBounds.withLoad(1000);
		LockRequest request = LockRequest.of(KEY).shared();
		TcpProxy proxy = this.processes.closing(new TcpProxy(List.of(TestRedis.server().address())));
		LockLease cutOff = this.processes.locks(TestRedis.lettuce(proxy.port())).acquire(request.withLease(leaseTime));
		RedisLockProvider writer = process();
		// Has to be renewed too, and outlasts a stall of this machine.
		try (LockLease kept = this.processes.locks(TestRedis.lettuce(TestRedis.port()))
			.acquire(request.withLease(leaseTime.plusMillis(1500))); WireFault silence = proxy.blackHole()) {
			await().atMost(PATIENCE).until(() -> !cutOff.isHeld());
			await().during(leaseTime)
				.atMost(PATIENCE)
				.until(() -> kept.isHeld() && RedisProcesses.attempt(writer, KEY) instanceof AttemptResult.Busy);
			assertThat(silence.hits()).isPositive();
			assertThat(writer.findAll(KEY, RedisProcesses.TIMEOUT)).hasSize(1);
		}
		RedisProcesses.acquire(writer, KEY);
	}

	@Test
	void exclusiveGrantOfAnOlderVersionWithAnOddIdIsEndedByForce() {
		RedisLockProvider process = process();
		String held = LockValues.held(OwnerId.random().ofShare(true).text(), 1_700_000_000_000_000L, 1_700_000_000,
				"old:1");
		for (boolean waiting : new boolean[] { false, true }) {
			// A machine that stalls finds that the reservation has ended.
			await().pollDelay(Duration.ZERO).untilAsserted(() -> {
				this.admin.set(this.lock, RedisLayout.bytes(held), SetParams.setParams().px(30_000));
				if (waiting) {
					RedisProcesses.enqueue(RedisProcesses.enter(process, KEY));
				}
				List<StoredLock> found = process.findAll(KEY, RedisProcesses.TIMEOUT);
				assertThat(found).hasSize(1);
				assertThat(process.forceRelease(KEY, found.get(0), RedisProcesses.TIMEOUT))
					.isEqualTo(ReleaseOutcome.RELEASED);
				byte[] left = this.admin.get(this.lock);
				assertThat(left != null).isEqualTo(waiting);
				if (waiting) {
					assertThat(left).asString(StandardCharsets.UTF_8).startsWith(process.process() + "R");
				}
			});
		}
	}

	@Test
	void operatorsSeeEachShareAndEndOne() {
		RedisLockProvider process = process();
		LockGrant first = acquire(process);
		LockGrant second = acquire(process);
		List<StoredLock> found = process.findAll(KEY, RedisProcesses.TIMEOUT);
		assertThat(found).extracting(StoredLock::owner).containsExactly(first.owner(), second.owner());
		assertThat(found).extracting(StoredLock::order).containsExactly(first.order(), second.order());
		assertThat(found).allSatisfy((share) -> {
			assertThat(share.holder().label()).isEqualTo(ProcessLabel.get());
			assertThat(share.holder().remaining()).isBetween(Duration.ofSeconds(1), RedisProcesses.LEASE);
			assertThat(share.holder().heldFor()).isLessThan(PATIENCE);
		});
		assertThat(process.find(KEY, RedisProcesses.TIMEOUT)).map(StoredLock::owner).contains(first.owner());
		assertThat(process.forceRelease(KEY, found.get(1), RedisProcesses.TIMEOUT)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(resultOf(process.renew(Map.of(first, RedisProcesses.LEASE, second, RedisProcesses.LEASE),
				RedisProcesses.TIMEOUT), RedisProcesses.TIMEOUT))
			.containsEntry(first, RenewalOutcome.RENEWED)
			.containsEntry(second, RenewalOutcome.NOT_HELD);
	}

}
