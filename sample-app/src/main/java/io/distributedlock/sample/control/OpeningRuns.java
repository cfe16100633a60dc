package io.distributedlock.sample.control;

import org.springframework.boot.ApplicationArguments;
import org.springframework.boot.ApplicationRunner;
import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

import io.distributedlock.sample.SampleApplication;

/**
 * The first two sales, one without the lock and one with it, once the workers are ready.
 * Who has opened the page by then sees them.
 */
@Component
@Profile("!" + SampleApplication.WORKER)
class OpeningRuns implements ApplicationRunner {

	private final SalesRuns runs;

	private final SaleDefaults defaults;

	OpeningRuns(SalesRuns runs, SaleDefaults defaults) {
		this.runs = runs;
		this.defaults = defaults;
	}

	@Override
	public void run(ApplicationArguments arguments) {
		this.runs.run(this.defaults.settings(false));
		this.runs.run(this.defaults.settings(true));
	}

}
