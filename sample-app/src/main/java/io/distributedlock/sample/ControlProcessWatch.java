package io.distributedlock.sample;

import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.context.ApplicationListener;

/**
 * Ends a worker whose control process has died while the worker was getting up. Once it
 * is up, it learns of that sooner by the end of its standard input.
 */
class ControlProcessWatch implements ApplicationListener<ApplicationEnvironmentPreparedEvent> {

	@Override
	public void onApplicationEvent(ApplicationEnvironmentPreparedEvent event) {
		Long pid = event.getEnvironment().getProperty("sample.control-pid", Long.class);
		if (pid != null) {
			ProcessHandle.of(pid).ifPresentOrElse(ControlProcessWatch::endWith, ControlProcessWatch::end);
		}
	}

	private static void endWith(ProcessHandle control) {
		control.onExit().thenRun(ControlProcessWatch::end);
	}

	private static void end() {
		// The database went with the control process: nothing is left to be closed in
		// order.
		Runtime.getRuntime().halt(1);
	}

}
