package io.distributedlock.testkit;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.distributedlock.LockKey;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;

import static io.distributedlock.testkit.ContractConstants.LONG_LEASE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Part of the contract on keys: different keys are different locks, and a store never
 * evaluates the text of a key.
 */
interface KeyContract extends ContractSupport {

	@Test
	default void awkwardKeysAreDifferentLocks() {
		List<LockKey> keys = new ArrayList<>();
		awkwardParts().forEach((parts) -> keys.add(LockKey.of("contract", parts)));
		keys.add(LockKey.of("Contract", "abc"));
		keys.add(LockKey.of("contract:abc"));
		keys.add(LockKey.of("contract"));
		for (int length : new int[] { 200, 255, 256, 512, 1000, 4000 }) {
			keys.add(LockKey.of("contract", "x".repeat(length)));
			keys.add(LockKey.of("contract", "x".repeat(length - 1) + "y"));
			keys.add(LockKey.of("contract", "\u00e9".repeat(length)));
			keys.add(LockKey.of("contract", "\ud83d\ude80".repeat(length)));
		}
		String megabyte = "k".repeat(1 << 20);
		keys.add(LockKey.of("contract", megabyte + "1"));
		keys.add(LockKey.of("contract", megabyte + "2"));
		keys.add(LockKey.of("contract", "1" + megabyte));
		assertThat(keys).doesNotHaveDuplicates();
		ContractProcess holder = process();
		ContractProcess other = process();
		List<LockGrant> grants = new ArrayList<>();
		for (LockKey key : keys) {
			AttemptResult attempt = holder.attempt(key, OwnerId.random(), LONG_LEASE, false);
			assertThat(attempt).as("first attempt on %s", key).isInstanceOf(AttemptResult.Granted.class);
			grants.add(((AttemptResult.Granted) attempt).grant());
		}
		for (LockKey key : keys) {
			assertThat(other.isBusy(key)).as("second attempt on %s", key).isTrue();
		}
		for (LockGrant grant : grants) {
			assertThat(holder.release(grant)).as("release of %s", grant.key()).isEqualTo(ReleaseOutcome.RELEASED);
		}
		assertStoreIsEmpty();
	}

	@Test
	default void thousandKeysHeldAtOnceLeaveNothingBehind() {
		ContractProcess holder = process();
		List<LockGrant> grants = ContractSupport.inThreads(Collections.nCopies(1000, holder),
				(process) -> process.acquire(freshKey(), LONG_LEASE));
		assertThat(fixture().heldEntries()).isEqualTo(1000);
		assertThat(ContractSupport.inThreads(grants, holder::release)).containsOnly(ReleaseOutcome.RELEASED);
		assertStoreIsEmpty();
	}

	private static List<List<String>> awkwardParts() {
		return List.of(List.of("a.b", "c"), List.of("a", "b.c"), List.of("a", "b", "c"), List.of("a:b", "c"),
				List.of("a", "b:c"), List.of("a:b:c"), List.of("a%3Ab", "c"), List.of("abc"), List.of("ABC"),
				List.of("aBc"), List.of("abc "), List.of(" abc"), List.of("abc  "), List.of("abc\t"), List.of("abc\n"),
				List.of("abc\0"), List.of("\0abc"), List.of("\u00e9"), List.of("e\u0301"), List.of("\u00df"),
				List.of("ss"), List.of("SS"), List.of("\u0130"), List.of("i"), List.of("I"), List.of("\u0131"),
				List.of("\ufeffabc"), List.of("abc\u200b"), List.of("abc\u00a0x"), List.of("a/b"), List.of("a", "/b"),
				List.of("/"), List.of("."), List.of(".."), List.of("../abc"), List.of("a//b"), List.of("a{b}c"),
				List.of("{}"), List.of("}{"), List.of("{abc}"), List.of("%"), List.of("%%"), List.of("_"),
				List.of("a_c"), List.of("a%c"), List.of("*"), List.of("?"), List.of("[a]"), List.of("\\"),
				List.of("\\0"), List.of("'"), List.of("''"), List.of("\""), List.of("`"), List.of(";"), List.of("--"),
				List.of("$1"), List.of(":key"), List.of("null"), List.of("\ud83d\ude80"), List.of("\ud83d"),
				List.of("\ude80"), List.of("\ude80\ud83d"), List.of("\ufffd"), List.of("%uD83D"),
				List.of("'; DROP TABLE distributed_lock; --"), List.of("' OR '1'='1"),
				List.of("#{T(java.lang.Runtime)}"), List.of("${user.home}"), List.of("#root"),
				List.of("redis.call('FLUSHALL')"), List.of("<b>abc</b>"));
	}

}
