package io.distributedlock.engine;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockListener;
import io.distributedlock.LockMode;
import io.distributedlock.LockRequest;
import io.distributedlock.LockSnapshot;
import io.distributedlock.LossReason;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.local.LocalStore;
import io.distributedlock.provider.AcquireObserver;
import io.distributedlock.provider.AcquireOutcome;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.CompletableStoreCall;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockObserver;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.StoreCall;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** Shares of one process: who joins whose, how they end, and what is nested in them. */
@ExtendWith(SilentLogger.class)
class SharedLocksTests {

	private static final LockKey KEY = LockKey.of("seats", "13A");

	private static final LockRequest EXCLUSIVE = LockRequest.of(KEY).withWaitTime(Duration.ZERO);

	private static final LockRequest SHARED = EXCLUSIVE.shared();

	private final LocalStore store = new LocalStore();

	private final LocalLockProvider provider = new LocalLockProvider(this.store);

	private final LockTimer timer = new LockTimer();

	private final ObservationJournal journal = new ObservationJournal();

	private final List<LossReason> losses = new ArrayList<>();

	private final LockTemplate locks = locks(LockSettings.defaults().withMaxHandOffTime(Duration.ofSeconds(1)));

	private LockTemplate locks(LockSettings settings) {
		return new LockTemplate(this.provider, settings, this.timer, List.of(this.journal), List.of(new LockListener() {

			@Override
			public void onLost(LockLease lease, LossReason reason) {
				synchronized (SharedLocksTests.this.losses) {
					SharedLocksTests.this.losses.add(reason);
				}
			}

		}));
	}

	@AfterEach
	void stop() {
		this.locks.close();
		this.timer.close();
		assertThat(this.journal.violations()).isEmpty();
		assertThat(this.journal.open()).isZero();
	}

	/** Counts the grants in the store. */
	private long grants() {
		return this.provider.list(100, Duration.ofSeconds(1)).orElseThrow().size();
	}

	private static void assertRefused(ThrowingCallable call) {
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(call)
			.withMessageContaining(KEY.toString())
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.EXCLUSIVE_INSIDE_SHARED));
	}

	@Test
	void youngShareIsJoinedAndReleasedByTheLastToLeave() {
		LockLease first = this.locks.acquire(SHARED);
		LockLease second = this.locks.acquire(SHARED);
		assertThat(grants()).isEqualTo(1);
		assertThat(this.locks.snapshot().held()).hasSize(2)
			.extracting(LockSnapshot.Held::mode)
			.containsOnly(LockMode.SHARED);
		assertThat(this.journal.open()).isEqualTo(2);
		first.close();
		assertThat(first.isHeld()).isFalse();
		assertThat(first.lossReason()).isNull();
		assertThat(this.journal.open()).isEqualTo(1);
		assertThat(second.isHeld()).isTrue();
		assertThat(this.locks.tryAcquire(EXCLUSIVE)).isNull();
		second.close();
		assertThat(grants()).isZero();
		this.locks.acquire(EXCLUSIVE).close();
	}

	@Test
	void handleThatIsClosedTwiceReleasesNoOther() {
		LockLease first = this.locks.acquire(SHARED);
		LockLease second = this.locks.acquire(SHARED);
		first.close();
		first.close();
		assertThat(second.isHeld()).isTrue();
		assertThat(grants()).isEqualTo(1);
		second.close();
	}

	@Test
	void lostShareIsLostForAllWhoHaveJoined() {
		LockLease left = this.locks.acquire(SHARED);
		LockLease first = this.locks.acquire(SHARED);
		LockLease second = this.locks.acquire(SHARED);
		left.close();
		assertThat(this.locks.forceRelease(KEY, first.fencingToken())).isTrue();
		await().untilAsserted(() -> {
			synchronized (this.losses) {
				assertThat(this.losses).containsExactly(LossReason.FORCED, LossReason.FORCED);
			}
		});
		for (LockLease lost : List.of(first, second)) {
			assertThat(lost.isHeld()).isFalse();
			assertThat(lost.lossReason()).isEqualTo(LossReason.FORCED);
			lost.close();
		}
		assertThat(left.lossReason()).isNull();
		await().until(() -> this.journal.open() == 0);
	}

	/** The thread whose request was granted may be slow to begin its hold. */
	@Test
	void holdThatJoinsBeforeTheFirstOneBeginsIsKept() {
		List<Boolean> released = new CopyOnWriteArrayList<>();
		AtomicReference<LockTemplate> template = new AtomicReference<>();
		LockObserver slow = new LockObserver() {

			@Override
			public @Nullable AcquireObserver onAcquireStart(LockKey key) {
				return (template.get() == null) ? null : new AcquireObserver() {

					@Override
					public void onEnd(AcquireOutcome outcome, @Nullable Throwable failure) {
						LockTemplate locks = template.getAndSet(null);
						if (locks != null) {
							LockLease joined = CompletableFuture.supplyAsync(() -> locks.acquire(SHARED)).join();
							released.add(locks.forceRelease(KEY, joined.fencingToken()));
							released.add(joined.lossReason() == LossReason.FORCED);
						}
					}

				};
			}

		};
		LockTemplate observed = new LockTemplate(this.provider,
				LockSettings.defaults().withMaxHandOffTime(Duration.ofSeconds(1)), this.timer, List.of(slow),
				List.of());
		template.set(observed);
		LockLease first = observed.acquire(SHARED);
		assertThat(released).containsExactly(true, true);
		assertThat(first.lossReason()).isEqualTo(LossReason.FORCED);
		first.close();
		observed.close();
	}

	@Test
	void shareWithOtherTermsIsOneOfItsOwn() {
		List<LockLease> shares = List.of(this.locks.acquire(SHARED),
				this.locks.acquire(SHARED.withLease(Duration.ofMinutes(2))),
				this.locks.acquire(SHARED.withMaxHold(Duration.ofMinutes(2))),
				this.locks.acquire(SHARED.withoutRenewal()));
		assertThat(grants()).isEqualTo(4);
		shares.forEach(LockLease::close);
		assertThat(grants()).isZero();
	}

	@Test
	void shareIsNotJoinedWithoutHandOffs() {
		LockTemplate without = locks(LockSettings.defaults().withMaxHandOffTime(null));
		LockLease first = without.acquire(SHARED);
		LockLease second = without.acquire(SHARED);
		assertThat(grants()).isEqualTo(2);
		first.close();
		second.close();
		without.close();
	}

	/** Else a token of another process's share would be stale beside an own one. */
	@Test
	void shareIsNoGrantOfTheWholeKey() {
		for (LockRequest request : List.of(SHARED, EXCLUSIVE.withPermits(2), EXCLUSIVE)) {
			LockLease lease = this.locks.acquire(request);
			assertThat(this.locks.hasGrant(KEY)).isEqualTo(request == EXCLUSIVE);
			lease.close();
		}
	}

	@Test
	void permitsAreGrantsOfTheirOwn() {
		LockRequest request = EXCLUSIVE.withPermits(2);
		LockLease first = this.locks.acquire(request);
		LockLease second = this.locks.acquire(request);
		assertThat(grants()).isEqualTo(2);
		assertThat(this.locks.tryAcquire(request)).isNull();
		first.close();
		this.locks.acquire(request).close();
		second.close();
	}

	@Test
	void releasedPermitGoesToTheNextRequestOfItsProcess() {
		LockRequest request = EXCLUSIVE.withPermits(1);
		LockLease first = this.locks.acquire(request);
		CompletableFuture<LockLease> later = this.locks.acquireAsync(request.withWaitTime(Duration.ofSeconds(30)));
		assertThat(later).isNotDone();
		first.close();
		assertThat(later).succeedsWithin(Duration.ofSeconds(5)).satisfies(LockLease::close);
	}

	/**
	 * Its token would be lower than that of a permit that another process was told of.
	 */
	@Test
	void permitThatWasAskedForEarlierIsNotGivenToALaterRequest() {
		LockRequest request = EXCLUSIVE.withPermits(2).withWaitTime(Duration.ofSeconds(30));
		SlowAnswers slow = new SlowAnswers(this.store);
		try (LockTemplate others = new LockTemplate(slow.provider, LockSettings.defaults(), this.timer, List.of(),
				List.of())) {
			CompletableFuture<LockLease> leaving = others.acquireAsync(request);
			LockLease rival = this.locks.acquire(request);
			leaving.cancel(true);
			CompletableFuture<LockLease> later = others.acquireAsync(request);
			slow.answer();
			assertThat(later).succeedsWithin(Duration.ofSeconds(30)).satisfies((lease) -> {
				assertThat(lease.fencingToken()).isGreaterThan(rival.fencingToken());
				lease.close();
			});
			rival.close();
			await().until(() -> grants() == 0);
		}
	}

	@Test
	void waitingReadersJoinTheFirstOfThem() {
		LockLease writer = this.locks.acquire(EXCLUSIVE);
		List<CompletableFuture<LockLease>> readers = List.of(SHARED, SHARED, SHARED)
			.stream()
			.map((request) -> this.locks.acquireAsync(request.withWaitTime(Duration.ofSeconds(30))))
			.toList();
		writer.close();
		readers.forEach((reader) -> assertThat(reader).succeedsWithin(Duration.ofSeconds(5)));
		assertThat(grants()).isEqualTo(1);
		readers.forEach((reader) -> reader.join().close());
		assertThat(grants()).isZero();
	}

	@Test
	void shareInsideAnExclusiveLockOrAShareJoinsIt() {
		for (LockRequest outer : List.of(EXCLUSIVE, EXCLUSIVE.withPermits(1), EXCLUSIVE.withPermits(2))) {
			this.locks.executeWithoutResult(outer, (lease) -> {
				for (LockRequest inner : List.of(SHARED, EXCLUSIVE.withPermits(2))) {
					this.locks.executeWithoutResult(inner,
							(nested) -> assertThat(nested.fencingToken()).isEqualTo(lease.fencingToken()));
				}
			});
		}
		assertThat(grants()).isZero();
	}

	@Test
	void permitsInsideAShareWithMoreAreRefused() {
		for (LockRequest outer : List.of(SHARED, EXCLUSIVE.withPermits(5))) {
			this.locks.executeWithoutResult(outer, (lease) -> assertRefused(
					() -> this.locks.executeWithoutResult(EXCLUSIVE.withPermits(2), (nested) -> {
					})));
		}
		assertThat(grants()).isZero();
	}

	@Test
	void exclusiveRequestInsideAShareIsRefused() {
		for (LockRequest outer : List.of(SHARED, EXCLUSIVE.withPermits(2))) {
			this.locks.executeWithoutResult(outer, (lease) -> {
				assertRefused(() -> this.locks.executeWithoutResult(EXCLUSIVE, (nested) -> {
				}));
				assertThat(this.locks.acquireAsync(EXCLUSIVE, List.of(lease))).isCompletedExceptionally();
			});
		}
		assertThat(grants()).isZero();
	}

	@Test
	void readLockMayBeLockedInsideTheWriteLock() {
		ReadWriteLock both = this.locks.asReadWriteLock(EXCLUSIVE);
		Lock write = both.writeLock();
		Lock read = both.readLock();
		write.lock();
		read.lock();
		write.unlock();
		assertThat(grants()).isEqualTo(1);
		read.unlock();
		assertThat(grants()).isZero();
	}

	@Test
	void writeLockInsideTheReadLockIsRefused() {
		ReadWriteLock both = this.locks.asReadWriteLock(EXCLUSIVE);
		both.readLock().lock();
		both.readLock().lock();
		assertRefused(() -> both.writeLock().lock());
		both.readLock().unlock();
		both.readLock().unlock();
		assertThat(both.writeLock().tryLock()).isTrue();
		both.writeLock().unlock();
	}

	/** Another process, whose first answer for a share comes when the test says so. */
	private static final class SlowAnswers {

		final LockProvider provider;

		private final CompletableStoreCall<AttemptResult> first = new CompletableStoreCall<>();

		private @Nullable AttemptResult answer;

		SlowAnswers(LocalStore store) {
			LocalLockProvider local = new LocalLockProvider(store);
			this.provider = (LockProvider) Proxy.newProxyInstance(LockProvider.class.getClassLoader(),
					new Class<?>[] { LockProvider.class }, (proxy, method, arguments) -> {
						Object result = method.invoke(local, arguments);
						return method.getName().equals("newShareContender") ? slow((LockContender) result) : result;
					});
		}

		private LockContender slow(LockContender contender) {
			return (LockContender) Proxy.newProxyInstance(LockContender.class.getClassLoader(),
					new Class<?>[] { LockContender.class }, (proxy, method, arguments) -> {
						Object result = method.invoke(contender, arguments);
						if (this.answer != null || !(result instanceof StoreCall<?> call)
								|| !(call.result() instanceof AttemptResult attempt)) {
							return result;
						}
						this.answer = attempt;
						return this.first;
					});
		}

		void answer() {
			this.first.complete(Objects.requireNonNull(this.answer));
		}

	}

}
