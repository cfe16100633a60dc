package io.distributedlock.sample.worker;

import tools.jackson.databind.json.JsonMapper;

import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

import io.distributedlock.sample.SampleApplication;
import io.distributedlock.sample.WorkerReport;

/**
 * Channel of the worker's reports to the control process, which reads its standard
 * output.
 */
@Component
@Profile(SampleApplication.WORKER)
class ReportChannel {

	private final JsonMapper json;

	ReportChannel(JsonMapper json) {
		this.json = json;
	}

	void send(WorkerReport report) {
		String line = WorkerReport.MARK + this.json.writerFor(WorkerReport.class).writeValueAsString(report) + "\n";
		// One call, so that no other thread's line comes between.
		System.out.print(line);
		System.out.flush();
	}

}
