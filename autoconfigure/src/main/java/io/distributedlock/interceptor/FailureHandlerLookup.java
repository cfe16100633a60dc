package io.distributedlock.interceptor;

import java.util.Optional;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockFailureHandler;

/**
 * Lookup of the application's {@link LockFailureHandler}, with the first failure, so that
 * it is not created before ordinary beans. Safe for use by many threads.
 */
final class FailureHandlerLookup {

	private final BeanFactory beanFactory;

	/**
	 * The handler. It is looked up without a lock, because the bean factory has locks of
	 * its own: threads that come together all look it up, and the last one counts.
	 */
	@SuppressWarnings("NullableOptional") // null until it was looked up
	private volatile @Nullable Optional<LockFailureHandler> handler;

	FailureHandlerLookup(BeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	/**
	 * Returns the handler.
	 * @return the handler, or {@code null} if the application has none
	 * @throws LockConfigurationException if it has several
	 */
	@Nullable LockFailureHandler get() {
		Optional<LockFailureHandler> found = this.handler;
		if (found == null) {
			found = find();
			this.handler = found;
		}
		return found.orElse(null);
	}

	private Optional<LockFailureHandler> find() {
		try {
			return Optional.ofNullable(this.beanFactory.getBeanProvider(LockFailureHandler.class).getIfAvailable());
		}
		catch (NoUniqueBeanDefinitionException ex) {
			throw new LockConfigurationException(LockError.SEVERAL_FAILURE_HANDLERS,
					"There are several beans of the type LockFailureHandler: " + ex.getBeanNamesFound(),
					"Keep one of them, or make it @Primary", ex);
		}
	}

}
