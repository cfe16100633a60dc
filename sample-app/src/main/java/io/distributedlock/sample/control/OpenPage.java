package io.distributedlock.sample.control;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/**
 * A page that a browser shows.
 */
class OpenPage {

	private final SseEmitter emitter;

	private final AtomicReference<@Nullable String> next = new AtomicReference<>();

	private final ReentrantLock sending = new ReentrantLock();

	OpenPage(SseEmitter emitter) {
		this.emitter = emitter;
	}

	/**
	 * Sends a state; while the browser reads one, only the last of the others is kept.
	 */
	void send(String state) {
		this.next.set(state);
		while (this.next.get() != null && this.sending.tryLock()) {
			try {
				String latest = this.next.getAndSet(null);
				if (latest != null) {
					this.emitter.send(SseEmitter.event().data(latest));
				}
			}
			catch (IOException | IllegalStateException ex) {
				// The page was closed.
				this.next.set(null);
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
