package io.distributedlock.autoconfigure;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import io.distributedlock.annotation.DistributedLock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

@ExtendWith(OutputCaptureExtension.class)
class FailureAnalysisTests {

	@Test
	void missingStoreIsExplained(CapturedOutput output) {
		start(Application.class);
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("DL-701: There is no store to keep distributed locks in")
			.contains("distributed-lock.provider=local")
			.doesNotContain("Application run failed");
	}

	@Test
	void badPropertyIsExplainedByName(CapturedOutput output) {
		start(WithLocks.class, "--distributed-lock.lease=-5s", "--distributed-lock.provider=local");
		assertThat(output).contains("DL-511: Property distributed-lock.lease: The lease is PT-5S").contains("Action:");
	}

	@Test
	void badAnnotationIsExplained(CapturedOutput output) {
		start(WithBadKey.class, "--distributed-lock.provider=local");
		assertThat(output).contains("DL-602: The key '#order.id'").contains("Job.run").contains("#order");
	}

	private static void start(Class<?> application, String... arguments) {
		SpringApplicationBuilder builder = new SpringApplicationBuilder(application).web(WebApplicationType.NONE);
		assertThat(catchThrowable(() -> builder.run(arguments))).isNotNull();
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(DistributedLockAutoConfiguration.class)
	static class Application {

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(DistributedLockAutoConfiguration.class)
	@Import(LockUser.class)
	static class WithLocks {

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(DistributedLockAutoConfiguration.class)
	static class WithBadKey {

		@Bean
		Job job() {
			return new Job();
		}

	}

	static class Job {

		@DistributedLock("#order.id")
		void run(String other) {
		}

	}

}
