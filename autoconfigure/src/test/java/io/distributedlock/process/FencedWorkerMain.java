package io.distributedlock.process;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.distributedlock.LockKey;
import io.distributedlock.LockRequest;
import io.distributedlock.autoconfigure.DistributedLockAutoConfiguration;
import io.distributedlock.autoconfigure.LockTransactionAutoConfiguration;
import io.distributedlock.autoconfigure.fencing.LockFencingAutoConfiguration;
import io.distributedlock.autoconfigure.redis.RedisLockAutoConfiguration;
import io.distributedlock.autoconfigure.zookeeper.ZooKeeperLockAutoConfiguration;
import io.distributedlock.engine.LockTemplate;

/**
 * A process that adds to a balance under a lock, in a transaction: it reads, and writes
 * what it has read plus one. It can be stopped after its lock was found to be held, and
 * after its work and the commit guard. Its arguments are properties.
 */
final class FencedWorkerMain {

	private final PrintStream answers = System.out;

	private final BufferedReader commands = new BufferedReader(
			new InputStreamReader(System.in, StandardCharsets.UTF_8));

	private final LockRequest request = LockRequest.of(LockKey.of("balance"))
		.withoutRenewal()
		.withWaitTime(Duration.ofSeconds(60));

	/**
	 * Where the next transaction stops, or pauses by itself if that is {@code random}.
	 */
	private volatile @Nullable String point;

	private volatile boolean stopped;

	public static void main(String[] args) throws IOException {
		new FencedWorkerMain().run(args);
	}

	private void run(String[] args) throws IOException {
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
			.web(WebApplicationType.NONE)
			.initializers((created) -> created.getBeanFactory().registerSingleton("worker", this))
			.properties("distributed-lock.key-prefix=fencing", "distributed-lock.call-timeout=10s",
					"distributed-lock.fencing.timeout=60s")
			.run(Arrays.stream(args).map((property) -> "--" + property).toArray(String[]::new))) {
			LockTemplate locks = context.getBean(LockTemplate.class);
			JdbcTemplate jdbc = new JdbcTemplate(context.getBean(DataSource.class));
			TransactionTemplate transaction = new TransactionTemplate(context.getBean(JdbcTransactionManager.class));
			add(locks, jdbc, transaction, "", "warm-up");
			answer("ready");
			for (String line = this.commands.readLine(); line != null; line = this.commands.readLine()) {
				String[] words = line.split(" ");
				switch (words[0]) {
					case "add" -> answer(add(locks, jdbc, transaction, words[1], "balance"));
					case "loop" -> new Thread(() -> {
						while (!this.stopped) {
							add(locks, jdbc, transaction, "random", "balance");
						}
						answer("stopped");
					}, "loop").start();
					case "stop" -> this.stopped = true;
					default -> throw new IllegalArgumentException(line);
				}
			}
		}
	}

	private void answer(String text) {
		this.answers.println(LockProcess.ANSWER + text);
	}

	/** Returns what the transaction has come to. */
	private String add(LockTemplate locks, JdbcTemplate jdbc, TransactionTemplate transaction, String stop,
			String account) {
		try {
			// A stop at a place has to be reached within the lease, also on a busy
			// machine.
			Duration time = stop.equals("random") ? Duration.ofMillis(500) : Duration.ofSeconds(4);
			return locks.execute(this.request.withLease(time), (lease) -> {
				Integer before = stop.equals("connect") ? read(jdbc, account) : null;
				this.point = stop;
				transaction.executeWithoutResult((status) -> {
					int balance = (before != null) ? before : read(jdbc, account);
					jdbc.update("UPDATE account SET balance = ? WHERE name = ?", balance + 1, account);
					jdbc.update("INSERT INTO ledger (name) VALUES (?)", account);
				});
				return "committed";
			});
		}
		catch (RuntimeException ex) {
			return "failed " + ex.getClass().getSimpleName();
		}
		finally {
			this.point = null;
		}
	}

	private static int read(JdbcTemplate jdbc, String account) {
		return jdbc.queryForObject("SELECT balance FROM account WHERE name = ?", Integer.class, account);
	}

	private void reached(String place) {
		String wanted = this.point;
		if (place.equals(wanted)) {
			answer("at " + place);
			try {
				this.commands.readLine();
			}
			catch (IOException ex) {
				throw new IllegalStateException(ex);
			}
		}
		else if ("random".equals(wanted)) {
			try {
				Thread.sleep(ThreadLocalRandom.current().nextInt(place.equals("commit") ? 150 : 10));
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ DataRedisAutoConfiguration.class, DistributedLockAutoConfiguration.class,
			RedisLockAutoConfiguration.class, ZooKeeperLockAutoConfiguration.class, LockFencingAutoConfiguration.class,
			LockTransactionAutoConfiguration.class })
	static class Application {

		@Bean
		DataSource dataSource(Environment environment, FencedWorkerMain worker) {
			return new StoppedDataSource(new DriverManagerDataSource(environment.getRequiredProperty("url"),
					environment.getRequiredProperty("user"), environment.getProperty("password", "")), worker);
		}

		@Bean
		JdbcTransactionManager transactionManager(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

	}

	/** Tells the worker of each transaction's first and last step. */
	private static final class StoppedDataSource extends DelegatingDataSource {

		private final FencedWorkerMain worker;

		private StoppedDataSource(DataSource target, FencedWorkerMain worker) {
			super(target);
			this.worker = worker;
		}

		@Override
		public Connection getConnection() throws SQLException {
			this.worker.reached("connect");
			Connection connection = super.getConnection();
			return (Connection) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Connection.class },
					(proxy, method, arguments) -> {
						if (method.getName().equals("commit")) {
							this.worker.reached("commit");
						}
						try {
							return method.invoke(connection, arguments);
						}
						catch (InvocationTargetException ex) {
							throw ex.getTargetException();
						}
					});
		}

	}

}
