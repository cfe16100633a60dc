package io.distributedlock.autoconfigure;

import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.ApplicationEventPublisher;

import io.distributedlock.LockListener;
import io.distributedlock.engine.EnclosingTransaction;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.concurrent.CallbackThreads;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.provider.LockObserver;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.LockTimer;

/**
 * What the engines of an application share.
 *
 * @param settings the defaults and bounds
 * @param timer the timer
 * @param callbacks the threads for callbacks
 * @param observers the observers
 * @param listeners the listeners
 * @param transaction the transaction of the calling thread, if any
 * @param publisher the publisher of application events
 */
record LockEngineParts(LockSettings settings, LockTimer timer, CallbackThreads callbacks,
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
		List<LockObserver> ownObservers = this.observers.orderedStream()
			.map((observer) -> Objects.requireNonNullElse(observer.ofProvider(name), observer))
			.toList();
		List<LockListener> ownListeners = Stream
			.concat(this.listeners.orderedStream(), Stream.of(new LockApplicationEvents(name, this.publisher)))
			.toList();
		EnclosingTransaction enclosing = this.transaction.getIfAvailable(() -> EnclosingTransaction.NONE);
		return () -> new LockTemplate(provider, this.settings, this.timer, this.callbacks, ownObservers, ownListeners,
				enclosing);
	}

}
