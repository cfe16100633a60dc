package io.distributedlock.sample;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.context.ApplicationListener;

/**
 * Watch on the control process while a worker starts: the worker ends if the control
 * process does. A started worker notices that by the end of its standard input.
 */
public class ControlProcessWatch implements ApplicationListener<ApplicationEnvironmentPreparedEvent> {

	/** How long a worker may take to end in good order. */
	private static final long SECONDS_TO_CLOSE = 2;

	@Override
	public void onApplicationEvent(ApplicationEnvironmentPreparedEvent event) {
		Long pid = event.getEnvironment().getProperty("sample.control-pid", Long.class);
		if (pid != null) {
			ProcessHandle.of(pid).ifPresentOrElse(ControlProcessWatch::endWith, ControlProcessWatch::end);
		}
	}

	private static void endWith(ProcessHandle control) {
		control.onExit().thenRunAsync(() -> {
			haltSoon();
			System.exit(1);
		});
	}

	private static void end() {
		Runtime.getRuntime().halt(1);
	}

	/**
	 * Ends this process if it does not end by itself: a store that ended with the control
	 * process must not keep it.
	 */
	public static void haltSoon() {
		CompletableFuture.delayedExecutor(SECONDS_TO_CLOSE, TimeUnit.SECONDS).execute(ControlProcessWatch::end);
	}

}
