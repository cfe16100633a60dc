package io.distributedlock.engine;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.slf4j.LoggerFactory;

/**
 * Silences the library during the tests of a class: simulated stores fail so often that
 * their warnings would fill gigabytes, and a model checker would explore the logger.
 */
class SilentLogger implements BeforeAllCallback, AfterAllCallback {

	private final Logger logger = (Logger) LoggerFactory.getLogger("io.distributedlock");

	private final @Nullable Level level = this.logger.getLevel();

	@Override
	public void beforeAll(ExtensionContext context) {
		this.logger.setLevel(Level.OFF);
	}

	@Override
	public void afterAll(ExtensionContext context) {
		this.logger.setLevel(this.level);
	}

}
