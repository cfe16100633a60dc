package io.distributedlock.autoconfigure;

import java.util.List;
import java.util.concurrent.Callable;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.distributedlock.LockContext;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.OnBusy;
import io.distributedlock.annotation.DistributedLock;

/**
 * Application whose classes another class loader loads than those of the library. Its
 * result is the lock of each of its methods.
 */
public final class RestartedApplication implements Callable<List<String>> {

	@Override
	public List<String> call() {
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Beans.class)
			.web(WebApplicationType.NONE)
			.properties("distributed-lock.provider=local", "distributed-lock.wait-time=0",
					"spring.datasource.generate-unique-name=true")
			.run()) {
			Work work = context.getBean(Work.class);
			return List.of(work.hidden(new Order(7)), work.visible(Kind.LARGE),
					context.getBean(NotRestarted.class).visible());
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Beans {

		@Bean
		Work work() {
			return new Work();
		}

		@Bean
		NotRestarted notRestarted() {
			return new NotRestarted();
		}

	}

	record Order(long id) {
	}

	public enum Kind {

		LARGE

	}

	static class Work {

		/** Only a proxy of the same class loader can override it. */
		@DistributedLock(name = "hidden", key = "#order.id", fallback = "busy")
		String hidden(Order order) {
			return LockContext.current().keys().toString();
		}

		private String busy(Order order, LockNotAcquiredException ex) {
			throw ex;
		}

		@DistributedLock(name = "visible",
				key = "#kind == T(io.distributedlock.autoconfigure.RestartedApplication.Kind)"
						+ ".LARGE ? 'large' : 'small'")
		public String visible(Kind kind) {
			return LockContext.current().keys().toString();
		}

	}

}
