package io.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.distributedlock.LockKey;
import io.distributedlock.provider.AcquireOutcome;
import io.distributedlock.provider.ObservedEvents;

import static org.awaitility.Awaitility.await;

/**
 * Journal of what happens around locked methods, in order: {@code lock}, {@code unlock},
 * {@code busy}, {@code failed}, and what the methods add themselves.
 */
final class CompositionJournal extends ObservedEvents {

	private final List<String> entries = new CopyOnWriteArrayList<>();

	private volatile Runnable afterBusy = () -> {
	};

	/** Starts an application as Boot does, with every auto-configuration there is. */
	static ConfigurableApplicationContext start(Class<?> application, String... properties) {
		return new SpringApplicationBuilder(application).web(WebApplicationType.NONE)
			.properties("distributed-lock.provider=local", "distributed-lock.wait-time=0",
					"spring.datasource.generate-unique-name=true")
			.properties(properties)
			.run();
	}

	static CompositionJournal of(ConfigurableApplicationContext context) {
		CompositionJournal journal = context.getBean(CompositionJournal.class);
		journal.afterBusy(() -> {
		});
		journal.entries.clear();
		return journal;
	}

	void add(String entry) {
		this.entries.add(entry);
	}

	/** Adds the commit of the running transaction, once it is done. */
	void addTransaction() {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void afterCommit() {
				add("commit");
			}

		});
	}

	void afterBusy(Runnable action) {
		this.afterBusy = action;
	}

	/** Returns the entries since the last call, once no lock is held any more. */
	List<String> takeAtEnd() {
		await().atMost(Duration.ofMinutes(1)).until(() -> count("lock") <= count("unlock"));
		return take();
	}

	private long count(String entry) {
		return this.entries.stream().filter(entry::equals).count();
	}

	/** Returns the entries since the last call. */
	List<String> take() {
		List<String> taken = List.copyOf(this.entries);
		this.entries.clear();
		return taken;
	}

	@Override
	protected void acquireEnded(LockKey key, AcquireOutcome outcome) {
		switch (outcome) {
			case BUSY -> {
				add("busy");
				this.afterBusy.run();
			}
			case FAILED -> add("failed");
			default -> {
			}
		}
	}

	@Override
	protected void holdStarted(LockKey key) {
		add("lock");
	}

	@Override
	protected void holdEnded(LockKey key) {
		add("unlock");
	}

}
