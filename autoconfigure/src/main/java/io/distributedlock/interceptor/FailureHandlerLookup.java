package io.distributedlock.interceptor;

import java.util.Optional;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.util.function.SingletonSupplier;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;

/**
 * Lookup of the application's {@link LockFailureHandler}, with the first failure, so that
 * it is not created before ordinary beans. Safe for use by many threads.
 */
final class FailureHandlerLookup {

	private final Supplier<Optional<LockFailureHandler>> handler;

	FailureHandlerLookup(BeanFactory beanFactory) {
		this.handler = SingletonSupplier.of(() -> find(beanFactory));
	}

	/**
	 * Returns the handler.
	 * @return the handler, or {@code null} if the application has none
	 * @throws LockConfigurationException if it has several
	 */
	@Nullable LockFailureHandler get() {
		return this.handler.get().orElse(null);
	}

	private static Optional<LockFailureHandler> find(BeanFactory beanFactory) {
		try {
			return Optional.ofNullable(beanFactory.getBeanProvider(LockFailureHandler.class).getIfAvailable());
		}
		catch (NoUniqueBeanDefinitionException ex) {
			throw new LockConfigurationException(LockError.SEVERAL_FAILURE_HANDLERS,
					"There are several beans of the type LockFailureHandler: " + ex.getBeanNamesFound(),
					"Keep one of them, or make it @Primary", ex);
		}
	}

}
