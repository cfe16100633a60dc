package io.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.Environment;

import io.distributedlock.LockListener;
import io.distributedlock.engine.EnclosingTransaction;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.concurrent.CallbackThreads;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.provider.LockObserver;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.LockTimer;

/**
 * What the engines of an application share, looked up with the first of them.
 *
 * @param beanFactory the factory, which has the one timer and the threads for callbacks
 * @param settings the defaults and bounds
 * @param observers the observers
 * @param listeners the listeners
 * @param transaction the transaction of the calling thread, if any
 * @param publisher the publisher of application events
 */
record LockEngineParts(ConfigurableListableBeanFactory beanFactory, ObjectProvider<LockSettings> settings,
		ObjectProvider<LockObserver> observers, ObjectProvider<LockListener> listeners,
		ObjectProvider<EnclosingTransaction> transaction, ApplicationEventPublisher publisher) {

	/**
	 * Prepares an engine, with all beans that it needs. A mock of an observer returns no
	 * observer of a provider.
	 * @param provider the store
	 * @return creates the engine, and looks no bean up
	 */
	Supplier<LockTemplate> prepare(LockProvider provider) {
		String name = provider.name();
		LockSettings ownSettings = this.settings.getObject();
		LockTimer timer = closedAfterEngines("distributedLockTimer", LockTimer.class);
		CallbackThreads callbacks = closedAfterEngines("distributedLockCallbackThreads", CallbackThreads.class);
		List<LockObserver> ownObservers = this.observers.orderedStream()
			.map((observer) -> Objects.requireNonNullElse(observer.ofProvider(name), observer))
			.toList();
		List<LockListener> ownListeners = Stream
			.concat(this.listeners.orderedStream(), Stream.of(new LockApplicationEvents(name, this.publisher)))
			.toList();
		EnclosingTransaction enclosing = this.transaction.getIfAvailable(() -> EnclosingTransaction.NONE);
		return () -> new LockTemplate(provider, ownSettings, timer, callbacks, ownObservers, ownListeners, enclosing);
	}

	/** Returns a bean that is created after the engines, and yet closed after them. */
	private <T> T closedAfterEngines(String name, Class<T> type) {
		this.beanFactory.registerDependentBean(name, LockEngines.BEAN_NAME);
		return this.beanFactory.getBean(name, type);
	}

	/** Returns how long held locks are kept after a stop. */
	Duration grace() {
		Duration grace = this.beanFactory.getBean(DistributedLockProperties.class).shutdown().gracePeriod();
		return (grace != null) ? grace
				: this.beanFactory.getBean(ConfigurableApplicationContext.ENVIRONMENT_BEAN_NAME, Environment.class)
					.getProperty("spring.lifecycle.timeout-per-shutdown-phase", Duration.class, Duration.ofSeconds(30));
	}

}
