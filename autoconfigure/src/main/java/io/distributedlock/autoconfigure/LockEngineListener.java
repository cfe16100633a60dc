package io.distributedlock.autoconfigure;

/**
 * Receives each engine when it is created, on the thread that was the first to need it.
 */
interface LockEngineListener {

	/**
	 * Called when the engine can be found in {@link LockEngines} already.
	 * @param engine the engine
	 */
	void created(ProviderEngine engine);

}
