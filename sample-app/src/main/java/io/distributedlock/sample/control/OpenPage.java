package io.distributedlock.sample.control;

import java.io.IOException;
import java.util.concurrent.locks.ReentrantLock;

import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/**
 * A page that a browser shows.
 */
class OpenPage {

	private final SseEmitter emitter;

	private final ReentrantLock sending = new ReentrantLock();

	OpenPage(SseEmitter emitter) {
		this.emitter = emitter;
	}

	/** Sends a state, unless the browser has not yet read the one before. */
	void send(String state) {
		if (this.sending.tryLock()) {
			try {
				this.emitter.send(SseEmitter.event().data(state));
			}
			catch (IOException | IllegalStateException ex) {
				// The page was closed.
				close();
			}
			finally {
				this.sending.unlock();
			}
		}
	}

	void close() {
		this.emitter.complete();
	}

}
