package io.distributedlock.sample.control;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.annotation.Profile;
import org.springframework.context.event.EventListener;
import org.springframework.core.env.Environment;
import org.springframework.stereotype.Component;

import io.distributedlock.sample.SampleApplication;

/**
 * The last line of the start: where the page is.
 */
@Component
@Profile("!" + SampleApplication.WORKER)
class StartMessage {

	private static final Log logger = LogFactory.getLog(StartMessage.class);

	private final Environment environment;

	StartMessage(Environment environment) {
		this.environment = environment;
	}

	@EventListener(ApplicationReadyEvent.class)
	void log() {
		logger.info("Open http://127.0.0.1:" + this.environment.getProperty("local.server.port")
				+ " in a browser; Ctrl+C ends everything");
	}

}
