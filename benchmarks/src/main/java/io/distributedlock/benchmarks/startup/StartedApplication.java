package io.distributedlock.benchmarks.startup;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.ComponentScan;
import org.springframework.context.annotation.Configuration;

/**
 * Application with the components of {@link GeneratedComponents}, none of them locked,
 * and all auto-configurations of its class path. Knows no class of this library, which
 * may be missing.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@ComponentScan(GeneratedComponents.PACKAGE)
public class StartedApplication {

	/**
	 * Starts the application, and prints how many microseconds that took, and how many of
	 * a processor.
	 * @param arguments the arguments of the application
	 */
	public static void main(String[] arguments) {
		long before = System.nanoTime();
		Duration processorBefore = processorTime();
		SpringApplication application = new SpringApplication(StartedApplication.class);
		application.setWebApplicationType(WebApplicationType.NONE);
		try (ConfigurableApplicationContext context = application.run(arguments)) {
			long micros = TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - before);
			Duration processor = processorTime().minus(processorBefore);
			if (context.getBeanDefinitionCount() >= GeneratedComponents.COUNT) {
				System.out.println("started " + micros + " " + TimeUnit.NANOSECONDS.toMicros(processor.toNanos()));
			}
		}
	}

	private static Duration processorTime() {
		return ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO);
	}

}
