package io.distributedlock.chaos;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockInterruptedException;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockLostException;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockOperations;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.chaos.HistoryEvent.Kind;
import io.distributedlock.chaos.LockCall.End;

/**
 * A thread of a client, which makes one call after the other. It writes to the register
 * at the end of its work whether it still holds the lock or not, as a program does that
 * relies on its fence.
 */
final class ChaosWorker extends Thread {

	private static final List<Integer> EXCLUSIVE = List.of(0);

	private static final List<Integer> PERMITS = List.of(ChaosService.PERMITS);

	private static final List<Integer> MIXED = List.of(0, 0, Integer.MAX_VALUE, Integer.MAX_VALUE,
			ChaosService.PERMITS);

	/** The permits of which a call for a key has one; 0 is exclusive. */
	private static final List<List<Integer>> KEYS = List.of(EXCLUSIVE, EXCLUSIVE, EXCLUSIVE, MIXED, MIXED, PERMITS);

	private static final Duration SHORT_WAIT = Duration.ofMillis(500);

	private final Setting setting;

	private final FencedRegister.Connection register;

	private final Random random;

	/** Whether an interrupt would reach a call for a lock, and not the work under it. */
	private final AtomicBoolean acquiring = new AtomicBoolean();

	private volatile boolean ended;

	ChaosWorker(Setting setting, FencedRegister.Connection register, long seed) {
		super("chaos-worker");
		this.setting = setting;
		this.register = register;
		this.random = new Random(seed);
		setDaemon(true);
	}

	/** Lets it end after its present call. */
	void end() {
		this.ended = true;
	}

	boolean interruptIfAcquiring() {
		if (this.acquiring.get()) {
			interrupt();
			return true;
		}
		return false;
	}

	@Override
	public void run() {
		while (!this.ended) {
			call(CallMode.choose(this.random));
			pause(this.random.nextInt(60));
		}
	}

	private void call(CallMode mode) {
		String id = this.setting.name() + "#" + this.setting.calls().incrementAndGet();
		List<Integer> numbers = this.random.ints(0, (mode == CallMode.SEVERAL) ? 3 : KEYS.size())
			.distinct()
			.limit((mode == CallMode.SEVERAL) ? 2 : 1)
			.boxed()
			.toList();
		List<String> keys = numbers.stream().map((number) -> "key-" + number).toList();
		List<Integer> kinds = KEYS.get(numbers.get(0));
		int kind = kinds.get(this.random.nextInt(kinds.size()));
		int permits = (kind != ChaosService.PERMITS || this.setting.permits() != null) ? kind : 0;
		Duration wait = wait(mode);
		long limit = Math.max(wait.toNanos(), ChaosRun.CALL_TIMEOUT.toNanos());
		keys.forEach((key) -> log(Kind.CALL, id, key, limit, mode + " " + permits));
		Work work = new Work(id, keys, permits);
		this.acquiring.set(true);
		try {
			acquire(mode, wait, work);
		}
		catch (LockException | InterruptedException ex) {
			if (!work.begun) {
				keys.forEach((key) -> log(Kind.ENDED, id, key, 0, end(ex).name()));
			}
		}
		finally {
			this.acquiring.set(false);
			Thread.interrupted();
		}
		if (work.begun) {
			keys.forEach((key) -> log(Kind.RELEASED, id, key, 0, ""));
		}
	}

	private Duration wait(CallMode mode) {
		return switch (mode) {
			case TRY -> Duration.ZERO;
			case ANNOTATED -> Duration.parse("PT1.5S");
			default -> this.random.nextBoolean() ? SHORT_WAIT : ChaosRun.LEASE.multipliedBy(4);
		};
	}

	private void acquire(CallMode mode, Duration wait, Work work) throws InterruptedException {
		LockOperations locks = this.setting.locks();
		LockRequest exclusive = LockRequest
			.ofAll(work.keys.stream().map((key) -> LockKey.of(ChaosService.NAME, key)).toList())
			.withWaitTime(wait);
		LockRequest request = (work.permits > 0) ? exclusive.withPermits(work.permits) : exclusive;
		switch (mode) {
			case EXECUTE, SEVERAL -> locks.executeWithoutResult(request, work::run);
			case ANNOTATED -> callAnnotated(work.keys.get(0), work);
			case ASYNC -> acquireAsync(locks, request, work);
			case TRY -> {
				try (LockLease lease = locks.tryAcquire(request)) {
					if (lease == null) {
						log(Kind.ENDED, work.id, work.keys.get(0), 0, End.BUSY.name());
					}
					else {
						work.run(lease);
					}
				}
			}
		}
	}

	private void callAnnotated(String key, Work work) {
		ChaosService service = this.setting.service();
		switch (work.permits) {
			case 0 -> service.work(key, work::run);
			case ChaosService.PERMITS -> Objects.requireNonNull(this.setting.permits()).permit(key, work::run);
			default -> service.share(key, work::run);
		}
	}

	private void acquireAsync(LockOperations locks, LockRequest request, Work work) throws InterruptedException {
		CompletableFuture<LockLease> future = locks.acquireAsync(request);
		try (LockLease lease = future.get()) {
			work.run(lease);
		}
		catch (InterruptedException ex) {
			if (!future.cancel(true) && !future.isCompletedExceptionally()) {
				future.join().close();
			}
			throw ex;
		}
		catch (ExecutionException ex) {
			throw (ex.getCause() instanceof LockException failure) ? failure : new IllegalStateException(ex);
		}
	}

	private static End end(Exception ex) {
		if (ex instanceof LockInterruptedException || ex instanceof InterruptedException) {
			return End.INTERRUPTED;
		}
		if (ex instanceof LockNotAcquiredException) {
			return End.BUSY;
		}
		if (ex instanceof LockProviderException failure) {
			return (failure.error() == LockError.SHUTTING_DOWN) ? End.SHUTDOWN : End.FAILED;
		}
		return (ex instanceof LockLostException) ? End.FAILED : End.UNKNOWN;
	}

	private void log(Kind kind, String id, String key, long value, String detail) {
		logAt(System.nanoTime(), kind, id, key, value, detail);
	}

	private void logAt(long now, Kind kind, String id, String key, long value, String detail) {
		this.setting.log().add(new HistoryEvent(now, kind, this.setting.name(), id, key, value, detail));
	}

	private static void pause(long millis) {
		long end = System.nanoTime() + Duration.ofMillis(millis).toNanos();
		while (System.nanoTime() - end < 0) {
			LockSupport.parkNanos(end - System.nanoTime());
			Thread.interrupted();
		}
	}

	/**
	 * What the threads of a client share.
	 *
	 * @param name the name of the process
	 * @param locks the locks
	 * @param service the bean with locked methods
	 * @param permits the bean with permits, or {@code null} if the store has none
	 * @param log the history
	 * @param calls counts calls
	 */
	record Setting(String name, LockOperations locks, ChaosService service, @Nullable ChaosPermits permits,
			HistoryLog log, AtomicLong calls) {
	}

	/** The work of one call under its lock. */
	private final class Work {

		private final String id;

		private final List<String> keys;

		private final int permits;

		private boolean begun;

		private Work(String id, List<String> keys, int permits) {
			this.id = id;
			this.keys = keys;
			this.permits = permits;
		}

		private void run(LockLease lease) {
			ChaosWorker.this.acquiring.set(false);
			Thread.interrupted();
			this.begun = true;
			this.keys.forEach((key) -> log(Kind.GRANTED, this.id, key, token(lease, key), ""));
			lease.onLost(() -> this.keys.forEach((key) -> log(Kind.LOST, this.id, key, 0, lossReason(lease))));
			write(lease);
			for (long rest = length(); rest > 0; rest -= 200) {
				pause(Math.min(rest, 200));
				logIfHeld(lease);
			}
			write(lease);
			logIfHeld(lease);
			long now = System.nanoTime();
			long held = lease.isHeld() ? 1 : 0;
			this.keys.forEach((key) -> logAt(now, Kind.RELEASE, this.id, key, held, ""));
		}

		private static long token(LockLease lease, String key) {
			return lease.fencingToken(LockKey.of(ChaosService.NAME, key)).value();
		}

		private static String lossReason(LockLease lease) {
			return Stream.ofNullable(lease.lossReason()).map(Enum::name).findFirst().orElse("");
		}

		/** Mostly short, but half of the shares are not; one of 500 needs a renewal. */
		private long length() {
			int kind = ChaosWorker.this.random.nextInt(500);
			if (kind == 0) {
				return ChaosRun.LEASE.toMillis() * 5 / 4;
			}
			return ChaosWorker.this.random.nextInt((kind < ((this.permits > 0) ? 250 : 50)) ? 300 : 5);
		}

		/** Whoever shares the lock writes nothing: it may not be alone. */
		private void write(LockLease lease) {
			for (String key : (this.permits > 0) ? List.<String>of() : this.keys) {
				ChaosWorker.this.register.write(key, token(lease, key), ChaosWorker.this.setting.name(), this.id);
			}
		}

		/** The time is read first: whoever holds the lock later has held it then. */
		private void logIfHeld(LockLease lease) {
			long now = System.nanoTime();
			if (lease.isHeld()) {
				this.keys.forEach((key) -> logAt(now, Kind.HELD, this.id, key, 0, ""));
			}
		}

	}

}
