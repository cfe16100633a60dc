package io.distributedlock.sample.control;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.boot.web.server.context.WebServerInitializedEvent;
import org.springframework.context.annotation.Profile;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

import io.distributedlock.sample.SampleApplication;

/**
 * The first line of the start: where the page is.
 */
@Component
@Profile("!" + SampleApplication.WORKER)
class StartMessage {

	private static final Log logger = LogFactory.getLog(StartMessage.class);

	@EventListener
	void log(WebServerInitializedEvent event) {
		logger
			.info("Open http://127.0.0.1:" + event.getWebServer().getPort() + " in a browser; Ctrl+C ends everything");
	}

}
