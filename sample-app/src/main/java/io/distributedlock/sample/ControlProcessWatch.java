package io.distributedlock.sample;

import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.context.ApplicationListener;

/**
 * Watch on the control process while a worker starts: the worker ends if the control
 * process does. A started worker notices that by the end of its standard input.
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
		// The database ended with the control process, so there is nothing to close.
		Runtime.getRuntime().halt(1);
	}

}
