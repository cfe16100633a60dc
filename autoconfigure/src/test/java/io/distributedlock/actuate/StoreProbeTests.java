package io.distributedlock.actuate;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;

import org.junit.jupiter.api.Test;
import org.mockito.Mockito;

import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.LockProvider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.willAnswer;

class StoreProbeTests {

	private final LockProvider provider = Mockito.mock(LockProvider.class);

	private final StoreProbe probe = new StoreProbe(this.provider, Duration.ofSeconds(30));

	private Thread start(FutureTask<Optional<RuntimeException>> task) {
		Thread thread = new Thread(task);
		thread.setDaemon(true);
		thread.start();
		return thread;
	}

	@Test
	void interruptOfAProbeSaysNothingToThoseThatShareIt() throws Exception {
		CountDownLatch never = new CountDownLatch(1);
		willAnswer((call) -> {
			try {
				never.await();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
			throw new LockProviderException(LockError.STORE_FAILED, "test", "was interrupted", null);
		}).willAnswer((call) -> null).given(this.provider).probe(any());
		FutureTask<Optional<RuntimeException>> interrupted = new FutureTask<>(this.probe::run);
		FutureTask<Optional<RuntimeException>> sharing = new FutureTask<>(this.probe::run);
		Thread first = start(interrupted);
		await().until(() -> first.getState() == Thread.State.WAITING);
		Thread second = start(sharing);
		await().until(() -> second.getState() == Thread.State.TIMED_WAITING);
		first.interrupt();
		assertThat(interrupted.get()).get().isInstanceOf(LockProviderException.class);
		assertThat(sharing.get()).isEmpty();
		Mockito.verify(this.provider, Mockito.times(2)).probe(any());
	}

}
