package io.distributedlock.benchmarks.scenario;

import java.time.Duration;

import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

import io.distributedlock.autoconfigure.DistributedLockAutoConfiguration;
import io.distributedlock.autoconfigure.LockTransactionAutoConfiguration;
import io.distributedlock.autoconfigure.observe.LockMetricsAutoConfiguration;
import io.distributedlock.autoconfigure.redis.RedisLockAutoConfiguration;
import io.distributedlock.benchmarks.Store;
import io.distributedlock.benchmarks.contender.Library;

/**
 * The start of an application that uses Redis, in a new JVM: without locks, which is
 * called raw here, and with them.
 */
final class StartUp implements Scenario {

	@Override
	public String name() {
		return "start-up";
	}

	@Override
	public boolean suits(Library library, Store store) {
		return store == Store.REDIS && (library == Library.RAW || library.isOurs());
	}

	@Override
	public Duration estimate(Duration duration, Store store) {
		return Duration.ofSeconds(3);
	}

	@Override
	public Measurement measure(Trial trial) {
		return Measurement.of(new Figure("time", trial.runAlone(Task.of(this)).value("millis"), "ms"));
	}

	@Override
	public Answer work(WorkerContext worker, Task task) {
		Class<?> application = worker.library().isRaw() ? WithoutLocks.class : WithLocks.class;
		long begin = System.nanoTime();
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(application)
			.web(WebApplicationType.NONE)
			.bannerMode(Banner.Mode.OFF)
			.properties("logging.level.root=warn", "spring.data.redis.port=" + worker.server().port())
			.run()) {
			return Answer.empty().with("millis", (System.nanoTime() - begin) / 1e6);
		}
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ PropertyPlaceholderAutoConfiguration.class, DataRedisAutoConfiguration.class })
	static class WithoutLocks {

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ PropertyPlaceholderAutoConfiguration.class, DataRedisAutoConfiguration.class,
			RedisLockAutoConfiguration.class, DistributedLockAutoConfiguration.class,
			LockTransactionAutoConfiguration.class, LockMetricsAutoConfiguration.class })
	static class WithLocks {

	}

}
