package io.distributedlock.autoconfigure;

/**
 * Receives each engine when it is created, on the thread that was the first to need it.
 */
interface LockEngineListener {

	/**
	 * Called under the lock of {@link LockEngines}, before others can find the engine. An
	 * implementation looks up no bean and does not block.
	 * @param engine the engine
	 */
	default void created(ProviderEngine engine) {
	}

	/**
	 * Called when others can find the engine.
	 * @param engine the engine
	 */
	default void available(ProviderEngine engine) {
	}

}
