package io.distributedlock.process;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.jpa.repository.config.EnableJpaRepositories;
import org.springframework.data.repository.CrudRepository;
import org.springframework.data.repository.Repository;

import io.distributedlock.LockException;
import io.distributedlock.annotation.DistributedLock;

/**
 * An application with locked Spring Data repositories. Its argument is the URL of its
 * database; each line of its input names the method to call.
 */
final class RepositoryMain {

	private final Stocks stocks;

	private final Audits audits;

	private long id = System.nanoTime();

	private RepositoryMain(ConfigurableApplicationContext context) {
		this.stocks = context.getBean(Stocks.class);
		this.audits = context.getBean(Audits.class);
	}

	public static void main(String[] args) throws IOException {
		PrintStream answers = System.out;
		RepositoryMain main = new RepositoryMain(
				new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE)
					.properties("distributed-lock.provider=jdbc", "distributed-lock.jdbc.initialize-schema=always",
							"distributed-lock.call-timeout=10s", "spring.datasource.url=" + args[0],
							"spring.datasource.username=sa", "spring.jpa.hibernate.ddl-auto=none")
					.run());
		answers.println(LockProcess.ANSWER + "ready");
		BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		for (String command = commands.readLine(); command != null; command = commands.readLine()) {
			answers.println(LockProcess.ANSWER + main.answer(command));
		}
	}

	private String answer(String command) {
		try {
			call(command);
			return "done";
		}
		catch (LockException ex) {
			return ex.error().name();
		}
	}

	private void call(String command) {
		switch (command) {
			case "query" -> this.stocks.count("x");
			case "default method" -> this.stocks.countTwice("x");
			case "override" -> this.stocks.save(new Stock(this.id++));
			case "override by the general type" -> saveByGeneralType(this.stocks);
			case "type" -> this.audits.countAll();
			default -> throw new IllegalArgumentException(command);
		}
	}

	private void saveByGeneralType(CrudRepository<Stock, Long> repository) {
		repository.save(new Stock(this.id++));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableJpaRepositories(considerNestedRepositories = true)
	static class Application {

	}

	@Entity
	@Table(name = "stock")
	static class Stock {

		@Id
		private long id;

		protected Stock() {
		}

		Stock(long id) {
			this.id = id;
		}

	}

	interface Stocks extends CrudRepository<Stock, Long> {

		@DistributedLock(key = "#item", waitTime = "0")
		@Query(value = "SELECT enter_body()", nativeQuery = true)
		int count(String item);

		@Query(value = "SELECT enter_body()", nativeQuery = true)
		int countUnlocked();

		@DistributedLock(key = "#item", waitTime = "0")
		default int countTwice(String item) {
			return countUnlocked() + 1;
		}

		@Override
		@DistributedLock(key = "#stock.class.simpleName", waitTime = "0")
		<S extends Stock> S save(S stock);

	}

	@DistributedLock(name = "audits", waitTime = "0")
	interface Audits extends Repository<Stock, Long> {

		@Query(value = "SELECT enter_body()", nativeQuery = true)
		int countAll();

	}

}
