package io.distributedlock.actuate;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.actuate.endpoint.Show;

import io.distributedlock.FencingToken;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockMode;
import io.distributedlock.LockRequest;
import io.distributedlock.LossReason;
import io.distributedlock.actuate.ForcedRelease.Outcome;
import io.distributedlock.actuate.LockOverview.StoreDescriptor;
import io.distributedlock.provider.ProcessLabel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests of forced releases on each store, between two processes. */
@Tag("full")
class ForcedReleaseTests {

	private static final Duration PATIENCE = OperatedStore.PATIENCE;

	private static final LockKey KEY = LockKey.of("seats", "13A/%\n\"<script>", "\u00e4\u2028:");

	private OperatedStore store;

	private ManagedProvider holder;

	private ManagedProvider other;

	@AfterEach
	void close() throws Exception {
		this.store.close();
	}

	private void open(String name) {
		this.store = new OperatedStore(name);
		this.holder = this.store.newProcess();
		this.other = this.store.newProcess();
	}

	private static LockRequest request() {
		return LockRequest.of(KEY).withLease(Duration.ofSeconds(10)).withWaitTime(PATIENCE);
	}

	private static DistributedLocksEndpoint endpoint(ManagedProvider process) {
		return new DistributedLocksEndpoint(() -> List.of(process), List::of, PATIENCE, Show.ALWAYS);
	}

	private static ForcedRelease release(ManagedProvider process, FencingToken token) {
		return endpoint(process).forceRelease(process.name(), KEY.encoded(), token.toString());
	}

	private CompletableFuture<LockLease> startWaiter(ManagedProvider process) {
		CompletableFuture<LockLease> waiting = process.template().acquireAsync(request());
		await().atMost(PATIENCE).until(() -> !process.template().snapshot().waiting().isEmpty());
		return waiting;
	}

	private static LockLease granted(CompletableFuture<LockLease> waiting) throws Exception {
		return waiting.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
	}

	@ParameterizedTest
	@ValueSource(strings = { "local", "h2", "postgresql", "mariadb", "redis", "zookeeper" })
	void ownHoldEndsOnlyByItsTokenAndTheNextTokenIsHigher(String name) throws Exception {
		open(name);
		LockLease lease = this.holder.template().acquire(request());
		CompletableFuture<LossReason> told = new CompletableFuture<>();
		lease.onLost(() -> told.complete(lease.lossReason()));
		CompletableFuture<LockLease> waiting = startWaiter(this.other);
		FencingToken token = lease.fencingToken();
		for (long stale : new long[] { token.value() - 1024, token.value() - 1, token.value() + 1 }) {
			assertThat(release(this.holder, new FencingToken(stale)).outcome()).isEqualTo(Outcome.STALE_TOKEN);
		}
		assertThat(lease.isHeld()).isTrue();

		assertThat(release(this.holder, token).outcome()).isEqualTo(Outcome.RELEASED);
		assertThat(told).succeedsWithin(PATIENCE).isEqualTo(LossReason.FORCED);
		LockLease next = granted(waiting);
		assertThat(next.fencingToken()).isGreaterThan(token);

		assertThat(release(this.holder, token).outcome()).isIn(Outcome.STALE_TOKEN, Outcome.TOKEN_UNKNOWN);
		assertThat(release(this.other, token).outcome()).isEqualTo(Outcome.STALE_TOKEN);
		lease.close();
		next.ensureHeld();
		assertThat(endpoint(this.holder).lock(this.holder.name(), KEY.encoded()).store()).isNotEmpty();
		next.close();
	}

	@ParameterizedTest
	@ValueSource(strings = { "local", "h2", "redis" })
	void shareOfAnotherProcessEndsByItsTokenBesideAnOwnOne(String name) {
		open(name);
		LockLease lease = this.holder.template().acquire(request().shared());
		LockLease own = this.other.template().acquire(request().shared());
		assertThat(release(this.other, lease.fencingToken()).outcome()).isEqualTo(Outcome.RELEASED);
		assertThat(release(this.other, lease.fencingToken()).outcome()).isEqualTo(Outcome.STALE_TOKEN);
		own.ensureHeld();
		assertThat(endpoint(this.other).lock(this.other.name(), KEY.encoded()).held()).extracting((held) -> held.mode())
			.containsExactly(LockMode.SHARED);
		own.close();
		assertThat(this.other.template().tryAcquire(request())).isNotNull().satisfies(LockLease::close);
		lease.close();
	}

	@ParameterizedTest
	@ValueSource(strings = { "local", "h2", "postgresql", "mariadb", "zookeeper" })
	void grantOfAnotherProcessEndsOnlyByItsOrder(String name) throws Exception {
		open(name);
		LockLease lease = this.holder.template().acquire(request());
		FencingToken token = lease.fencingToken();
		LockDescriptor seen = endpoint(this.other).lock(this.other.name(), KEY.encoded());
		assertThat(seen.held()).isEmpty();
		assertThat(seen.store().get(0).holder()).isEqualTo(ProcessLabel.get());
		assertThat(new FencingToken(Long.parseLong(seen.store().get(0).token())).order()).isEqualTo(token.order());
		assertThat(release(this.other, new FencingToken(token.value() - 1024)).outcome())
			.isEqualTo(Outcome.STALE_TOKEN);
		assertThat(release(this.other, new FencingToken(token.value() + 1024)).outcome())
			.isEqualTo(Outcome.STALE_TOKEN);
		CompletableFuture<LockLease> waiting = startWaiter(this.other);
		assertThat(lease.isHeld()).isTrue();

		assertThat(release(this.other, new FencingToken(Long.parseLong(seen.store().get(0).token()))).outcome())
			.isEqualTo(Outcome.RELEASED);
		LockLease next = granted(waiting);
		assertThat(next.fencingToken()).isGreaterThan(token);
		await().atMost(PATIENCE).until(() -> !lease.isHeld());
		lease.close();
		assertThat(release(this.holder, token).outcome()).isEqualTo(Outcome.STALE_TOKEN);
		next.ensureHeld();
		next.close();
	}

	@Test
	void grantWhoseOrderTheStoreLacksIsNotReleasedElsewhere() {
		open("redis");
		try (LockLease lease = this.holder.template().acquire(request())) {
			LockDescriptor seen = endpoint(this.other).lock(this.other.name(), KEY.encoded());
			assertThat(seen.store().get(0).holder()).isEqualTo(ProcessLabel.get());
			assertThat(seen.store().get(0).token()).isNull();
			ForcedRelease answer = release(this.other, lease.fencingToken());
			assertThat(answer.outcome()).isEqualTo(Outcome.TOKEN_UNKNOWN);
			assertThat(answer.message()).contains("'" + ProcessLabel.get() + "'", "Send the request to that process");
			assertThat(endpoint(this.other).lock(this.other.name(), KEY.encoded()).store()).isNotEmpty();
			lease.ensureHeld();
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "local", "h2", "postgresql", "redis" })
	void lockThatIsKeptAfterItsReleaseHasNoHolder(String name) {
		open(name);
		LockLease lease = this.holder.template().acquire(request().withMinHold(Duration.ofSeconds(9)));
		lease.close();
		assertThat(endpoint(this.other).lock(this.other.name(), KEY.encoded()).store().get(0).kept()).isTrue();
		assertThat(release(this.other, lease.fencingToken()).outcome()).isEqualTo(Outcome.KEPT);
		assertThat(this.other.template().tryAcquire(request().withWaitTime(Duration.ZERO))).isNull();
	}

	@ParameterizedTest
	@ValueSource(strings = { "local", "h2", "postgresql", "redis", "zookeeper" })
	void lockThatNobodyHoldsIsNotFound(String name) {
		open(name);
		LockLease lease = this.holder.template().acquire(request());
		lease.close();
		assertThat(release(this.other, lease.fencingToken()).outcome()).isEqualTo(Outcome.NOT_HELD);
		assertThat(endpoint(this.other).lock(this.other.name(), KEY.encoded()).isKnown()).isFalse();
	}

	@ParameterizedTest
	@ValueSource(strings = { "local", "h2", "postgresql", "mariadb" })
	void listOfAStoreIsInOrderAndCapped(String name) {
		open(name);
		for (int i = 0; i < DescriptorFactory.MAX_STORED; i++) {
			this.holder.template().acquire(LockRequest.of(LockKey.of("listed", "%03d".formatted(i))));
		}
		LockLease last = this.other.template().acquire(LockRequest.of(LockKey.of("zzz")));
		StoreDescriptor full = endpoint(this.other).locks().providers().get(this.other.name()).store();
		assertThat(full.locks()).hasSize(DescriptorFactory.MAX_STORED)
			.extracting("key")
			.isSorted()
			.contains("listed:042");
		assertThat(full.truncated()).isTrue();
		assertThat(endpoint(this.other).locks().providers().get(this.other.name()).held()).singleElement()
			.extracting("token")
			.isEqualTo(last.fencingToken().toString());
		last.close();
		assertThat(endpoint(this.other).locks().providers().get(this.other.name()).store().truncated()).isFalse();
	}

}
