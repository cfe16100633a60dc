package io.distributedlock.autoconfigure;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.BeansException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.util.function.SingletonSupplier;

import io.distributedlock.LockKey;
import io.distributedlock.provider.LockObserver;

/**
 * Relay of skipped calls to the observers of the context and its ancestors. They are
 * looked up with the first skipped call, because the registry of locked methods is
 * created before ordinary beans.
 */
final class SkippedCallObservers implements Consumer<LockKey> {

	private static final Log logger = LogFactory.getLog(SkippedCallObservers.class);

	private final Supplier<List<LockObserver>> observers;

	SkippedCallObservers(ObjectProvider<LockObserver> observers) {
		this.observers = SingletonSupplier.of(() -> observers.orderedStream().toList());
	}

	@Override
	public void accept(LockKey key) {
		try {
			this.observers.get().forEach((observer) -> notify(observer, key));
		}
		catch (BeansException ex) {
			logger.warn("The lock observers could not be created; the skipped call is not affected", ex);
		}
	}

	private static void notify(LockObserver observer, LockKey key) {
		try {
			observer.onSkip(key);
		}
		catch (RuntimeException | Error ex) {
			logger.warn("A lock observer failed; the skipped call is not affected", ex);
		}
	}

}
