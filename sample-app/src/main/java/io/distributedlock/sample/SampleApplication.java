package io.distributedlock.sample;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;

/**
 * Entry point of the sample: the control process, or with the profile {@value #WORKER}
 * one of its workers.
 */
@SpringBootApplication
@ConfigurationPropertiesScan
public class SampleApplication {

	/** The profile of a worker process. */
	public static final String WORKER = "worker";

	public static void main(String[] args) {
		SpringApplication application = new SpringApplication(SampleApplication.class);
		application.addListeners(new ControlProcessWatch());
		try {
			application.run(args);
		}
		catch (SpringApplication.AbandonedRunException ex) {
			// Processing ahead of time ends here.
			throw ex;
		}
		catch (RuntimeException ex) {
			System.err.println("The sample cannot start. " + StartFailure.describe(ex));
			System.exit(1);
		}
	}

}
