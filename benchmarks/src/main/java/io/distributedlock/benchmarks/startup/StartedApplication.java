package io.distributedlock.benchmarks.startup;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;

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
	 * Starts the application, and prints the {@link StartTimes}.
	 * @param arguments the arguments of the application
	 */
	public static void main(String[] arguments) {
		ThreadMXBean threads = ManagementFactory.getThreadMXBean();
		Duration processBefore = processTime();
		long mainThreadBefore = threads.getCurrentThreadCpuTime();
		long before = System.nanoTime();
		SpringApplication application = new SpringApplication(StartedApplication.class);
		application.setWebApplicationType(WebApplicationType.NONE);
		try (ConfigurableApplicationContext context = application.run(arguments)) {
			long nanos = System.nanoTime() - before;
			long mainThread = threads.getCurrentThreadCpuTime() - mainThreadBefore;
			long process = processTime().minus(processBefore).toNanos();
			if (context.getBeanDefinitionCount() < GeneratedComponents.COUNT) {
				throw new IllegalStateException("The components were not found");
			}
			System.out.println(new StartTimes(nanos / 1000, mainThread / 1000, process / 1000).toLine());
		}
	}

	private static Duration processTime() {
		return ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO);
	}

}
