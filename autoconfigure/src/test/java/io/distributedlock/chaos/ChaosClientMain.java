package io.distributedlock.chaos;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.Stream;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.lettuce.core.internal.HostAndPort;
import io.lettuce.core.resource.MappingSocketAddressResolver;
import org.slf4j.LoggerFactory;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.ClientResourcesBuilderCustomizer;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;
import org.springframework.core.env.SimpleCommandLinePropertySource;

import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.LockMode;
import io.distributedlock.LockOperations;
import io.distributedlock.LockRequest;
import io.distributedlock.autoconfigure.DistributedLockAutoConfiguration;
import io.distributedlock.autoconfigure.jdbc.JdbcLockAutoConfiguration;
import io.distributedlock.autoconfigure.redis.RedisLockAutoConfiguration;
import io.distributedlock.autoconfigure.redis.RedisQuorumLockAutoConfiguration;
import io.distributedlock.autoconfigure.zookeeper.ZooKeeperLockAutoConfiguration;
import io.distributedlock.process.LockProcess;
import io.distributedlock.provider.LockProvider;

/**
 * A client of a chaos run: an application whose threads acquire locks, write to the
 * fenced register under them, and log what they do. Its arguments are properties; it
 * obeys the lines {@link #INTERRUPT}, {@link #SHUTDOWN} and {@link #STOP}.
 */
final class ChaosClientMain {

	/** Interrupts the threads that wait for a lock, and answers with their number. */
	static final String INTERRUPT = "interrupt";

	/** Closes the context while bodies run. */
	static final String SHUTDOWN = "shutdown";

	/** Lets the threads end after their present calls, then closes the context. */
	static final String STOP = "stop";

	/** By which port a server is reached: the property ends with its own port. */
	static final String WAY = "chaos.way.";

	private static final String NAME = "chaos.process";

	private static final String HISTORY = "chaos.history";

	private static final String REGISTER = "chaos.register";

	private static final String SEED = "chaos.seed";

	private static final int THREADS = 4;

	/** The calls that load what is used for the first time. */
	private static final int WARM_UP = 20;

	private ChaosClientMain() {
	}

	/** The arguments of a client. */
	static List<String> arguments(String name, Path history, int register, long seed, List<String> store) {
		List<String> properties = new ArrayList<>(List.of(NAME + "=" + name, HISTORY + "=" + history,
				REGISTER + "=" + register, SEED + "=" + seed, "distributed-lock.key-prefix=chaos",
				"distributed-lock.lease=" + ChaosRun.LEASE.toMillis() + "ms",
				"distributed-lock.call-timeout=" + ChaosRun.CALL_TIMEOUT.toMillis() + "ms",
				"distributed-lock.shutdown.grace-period=5s"));
		properties.addAll(store);
		return properties;
	}

	/** Only what the store needs, since many processes start. */
	private static Class<?> store(String[] args) {
		List<String> properties = List.of(args);
		return properties.contains("distributed-lock.provider=redis") ? OnRedis.class
				: properties.contains("distributed-lock.provider=zookeeper") ? OnZooKeeper.class : OnDatabase.class;
	}

	public static void main(String[] args) throws IOException, InterruptedException {
		PrintStream answers = System.out;
		BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		((Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME)).setLevel(Level.ERROR);
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.getEnvironment()
				.getPropertySources()
				.addFirst(new SimpleCommandLinePropertySource(
						Stream.of(args).map((property) -> "--" + property).toArray(String[]::new)));
			context.register(Application.class, store(args));
			context.refresh();
			List<ChaosWorker> workers = workers(context);
			warmUp(context.getBean(LockOperations.class));
			workers.forEach(Thread::start);
			answers.println(LockProcess.ANSWER + "ready");
			for (String line = commands.readLine(); line != null; line = commands.readLine()) {
				switch (line) {
					case INTERRUPT -> answers.println(
							LockProcess.ANSWER + workers.stream().filter(ChaosWorker::interruptIfAcquiring).count());
					case SHUTDOWN, STOP -> {
						workers.forEach(ChaosWorker::end);
						if (line.equals(SHUTDOWN)) {
							context.close();
						}
						for (ChaosWorker worker : workers) {
							worker.join();
						}
						answers.println(LockProcess.ANSWER + "ended");
						return;
					}
					default -> throw new IllegalArgumentException(line);
				}
			}
		}
		// The runner has gone.
		Runtime.getRuntime().halt(1);
	}

	private static List<ChaosWorker> workers(ConfigurableApplicationContext context) throws IOException {
		Environment environment = context.getEnvironment();
		String name = environment.getRequiredProperty(NAME);
		HistoryLog log = new HistoryLog(Path.of(environment.getRequiredProperty(HISTORY)));
		new StallMeter(name, log).start();
		ChaosWorker.Setting setting = new ChaosWorker.Setting(name, context.getBean(LockOperations.class),
				context.getBean(ChaosService.class), context.getBean(LockProvider.class).supports(LockMode.PERMIT)
						? context.getBean(ChaosPermits.class) : null,
				log, new AtomicLong());
		List<ChaosWorker> workers = new ArrayList<>();
		for (int thread = 0; thread < THREADS; thread++) {
			workers.add(new ChaosWorker(setting,
					new FencedRegister.Connection(environment.getRequiredProperty(REGISTER, Integer.class)),
					environment.getRequiredProperty(SEED, Long.class) + thread));
		}
		return workers;
	}

	/** A server that a fault has stopped may answer late, and a broken build may fail. */
	private static void warmUp(LockOperations locks) {
		LockRequest request = LockRequest.of(LockKey.of("warm-up")).withWaitTime(Duration.ofSeconds(3));
		int done = 0;
		for (int i = 0; i < 10 * WARM_UP && done < WARM_UP; i++) {
			try {
				locks.executeWithoutResult((i % 2 == 0) ? request : request.shared(), (lease) -> {
				});
				done++;
			}
			catch (LockException ex) {
				Thread.yield();
			}
		}
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(DistributedLockAutoConfiguration.class)
	static class Application {

		@Bean
		ChaosService chaosService() {
			return new ChaosService();
		}

		@Bean
		@Lazy
		ChaosPermits chaosPermits() {
			return new ChaosPermits();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ DataRedisAutoConfiguration.class, RedisLockAutoConfiguration.class,
			RedisQuorumLockAutoConfiguration.class })
	static class OnRedis {

		/** The nodes of a cluster name their own ports. */
		@Bean
		ClientResourcesBuilderCustomizer ways(Environment environment) {
			Function<HostAndPort, HostAndPort> way = (server) -> HostAndPort.of(server.getHostText(),
					environment.getProperty(WAY + server.getPort(), Integer.class, server.getPort()));
			return (resources) -> resources.socketAddressResolver(MappingSocketAddressResolver.create(way));
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ DataSourceAutoConfiguration.class, JdbcLockAutoConfiguration.class })
	static class OnDatabase {

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(ZooKeeperLockAutoConfiguration.class)
	static class OnZooKeeper {

	}

}
