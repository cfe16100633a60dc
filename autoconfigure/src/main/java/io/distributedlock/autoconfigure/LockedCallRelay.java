package io.distributedlock.autoconfigure;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeansException;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;

import io.distributedlock.LockKey;
import io.distributedlock.interceptor.LockedCallObserver;
import io.distributedlock.provider.LockObserver;

/**
 * Relay of calls that were skipped, or ran without their lock, to the observers of the
 * context and its ancestors. They are looked up with the first such call, because the
 * registry of locked methods is created before ordinary beans.
 */
final class LockedCallRelay implements LockedCallObserver {

	private static final Log logger = LogFactory.getLog(LockedCallRelay.class);

	/** Stands for the primary provider; no provider has this name. */
	private static final String PRIMARY = "";

	private final BeanFactory beanFactory;

	private final ObjectProvider<LockObserver> observers;

	private final Map<String, List<LockObserver>> ofProviders = new ConcurrentHashMap<>();

	LockedCallRelay(BeanFactory beanFactory, ObjectProvider<LockObserver> observers) {
		this.beanFactory = beanFactory;
		this.observers = observers;
	}

	@Override
	public void onSkip(LockKey key, @Nullable String provider) {
		notify(provider, (observer) -> observer.onSkip(key));
	}

	@Override
	public void onUnlockedCall(String name, @Nullable String provider) {
		notify(provider, (observer) -> observer.onUnlockedCall(name));
	}

	private void notify(@Nullable String provider, Consumer<LockObserver> event) {
		try {
			of(provider).forEach((observer) -> notify(observer, event));
		}
		catch (BeansException ex) {
			logger.warn("The lock observers could not be created; the call is not affected", ex);
		}
	}

	private List<LockObserver> of(@Nullable String provider) {
		String name = (provider != null) ? provider : PRIMARY;
		List<LockObserver> known = this.ofProviders.get(name);
		if (known == null) {
			known = find(provider);
			this.ofProviders.put(name, known);
		}
		return known;
	}

	private List<LockObserver> find(@Nullable String provider) {
		LockEngines present = (provider != null) ? this.beanFactory.getBeanProvider(LockEngines.class).getIfAvailable()
				: null;
		if (present == null) {
			return this.observers.orderedStream().toList();
		}
		String name;
		try {
			name = present.observedName(provider);
		}
		catch (BeansException ex) {
			logger.debug("There is no primary provider, whose name observers would be told", ex);
			return this.observers.orderedStream().toList();
		}
		return this.observers.orderedStream()
			.map((observer) -> Objects.requireNonNullElse(observer.ofProvider(name), observer))
			.toList();
	}

	private static void notify(LockObserver observer, Consumer<LockObserver> event) {
		try {
			event.accept(observer);
		}
		catch (Throwable ex) {
			logger.warn("A lock observer failed; the call is not affected", ex);
		}
	}

}
