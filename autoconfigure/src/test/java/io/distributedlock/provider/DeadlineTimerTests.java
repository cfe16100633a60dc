package io.distributedlock.provider;

import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

class DeadlineTimerTests {

	private final NavigableMap<Long, Runnable> scheduled = new TreeMap<>();

	private final AtomicInteger signals = new AtomicInteger();

	private final DeadlineTimer timer = new DeadlineTimer(() -> 0, this::schedule, this.signals::incrementAndGet);

	private Runnable schedule(Runnable task, long delayNanos) {
		this.scheduled.put(delayNanos, task);
		return () -> this.scheduled.remove(delayNanos, task);
	}

	private void runFirst() {
		Map.Entry<Long, Runnable> first = this.scheduled.pollFirstEntry();
		first.getValue().run();
	}

	@Test
	void earliestDeadlineReplacesLaterOnes() {
		this.timer.setAt(200);
		this.timer.setAt(100);
		this.timer.setAt(300);
		assertThat(this.scheduled).containsOnlyKeys(101L);
	}

	@Test
	void signalThatHasRunIsSetAgain() {
		this.timer.setAt(100);
		runFirst();
		this.timer.setAt(300);
		runFirst();
		assertThat(this.signals).hasValue(2);
	}

	@Test
	void signalThatWasReplacedDoesNotRunAnyMore() {
		this.timer.setAt(200);
		Runnable replaced = this.scheduled.get(201L);
		this.timer.setAt(100);
		replaced.run();
		assertThat(this.signals).hasValue(0);
	}

	@Test
	void deadlineThatCannotBeScheduledReplacesNone() {
		AtomicReference<OutOfMemoryError> noThread = new AtomicReference<>();
		DeadlineTimer failing = new DeadlineTimer(() -> 0, (task, nanos) -> {
			OutOfMemoryError failure = noThread.get();
			if (failure != null) {
				throw failure;
			}
			return schedule(task, nanos);
		}, this.signals::incrementAndGet);
		failing.setAt(200);
		noThread.set(new OutOfMemoryError());
		assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(() -> failing.setAt(100));
		runFirst();
		assertThat(this.signals).hasValue(1);
	}

	@Test
	void closedTimerIsNotSet() {
		LockTimer closed = new LockTimer();
		closed.close();
		assertThatNoException()
			.isThrownBy(() -> new DeadlineTimer(closed, this.signals::incrementAndGet).setAt(Deadline.now()));
	}

}
