package io.distributedlock.autoconfigure;

import java.util.function.Consumer;

import javax.sql.DataSource;

import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import io.distributedlock.LockContext;
import io.distributedlock.LockLease;
import io.distributedlock.LockLostException;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.interceptor.OnLost;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.awaitility.Awaitility.await;

class LockTransactionAutoConfigurationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class, JdbcTemplateAutoConfiguration.class,
				DataSourceTransactionManagerAutoConfiguration.class, TransactionAutoConfiguration.class,
				DistributedLockAutoConfiguration.class, LockTransactionAutoConfiguration.class))
		.withUserConfiguration(Shop.class)
		.withPropertyValues("spring.datasource.generate-unique-name=true", "distributed-lock.provider=local");

	@Test
	void transactionUnderALostLockIsRolledBack() {
		run((orders) -> assertThatExceptionOfType(LockLostException.class).isThrownBy(orders::placeAndLose), 0);
	}

	@Test
	void newTransactionUnderALostLockIsRolledBack() {
		run((orders) -> assertThatExceptionOfType(LockLostException.class).isThrownBy(orders::loseAndPlaceInANewOne),
				0);
	}

	@Test
	void transactionUnderAHeldLockCommits() {
		run((orders) -> assertThatNoException().isThrownBy(orders::place), 1);
	}

	@Test
	void transactionCommitsIfTheLossIsIgnored() {
		run((orders) -> assertThatNoException().isThrownBy(orders::placeThoughLost), 1);
	}

	@Test
	void transactionCommitsIfTheGuardIsOff() {
		this.runner.withPropertyValues("distributed-lock.transaction.commit-guard=false").run((context) -> {
			Orders orders = context.getBean(Orders.class);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(orders::placeAndLose);
			assertThat(orders.count()).isOne();
		});
	}

	private void run(Consumer<Orders> call, int expected) {
		this.runner.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			call.accept(orders);
			assertThat(orders.count()).isEqualTo(expected);
		});
	}

	@Configuration(proxyBeanMethods = false)
	static class Shop {

		@Bean
		Orders orders(DataSource dataSource, PlatformTransactionManager transactions) {
			return new Orders(new JdbcTemplate(dataSource), transactions);
		}

	}

	static class Orders {

		private final JdbcTemplate jdbc;

		private final TransactionTemplate newTransaction;

		Orders(JdbcTemplate jdbc, PlatformTransactionManager transactions) {
			this.jdbc = jdbc;
			this.newTransaction = new TransactionTemplate(transactions);
			this.newTransaction.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
			jdbc.execute("CREATE TABLE IF NOT EXISTS orders (id INT)");
		}

		@Transactional
		@DistributedLock
		void place() {
			insert();
		}

		@Transactional
		@DistributedLock(lease = "100ms", renew = false)
		void placeAndLose() {
			insert();
			lose();
		}

		@DistributedLock(lease = "100ms", renew = false)
		void loseAndPlaceInANewOne() {
			lose();
			this.newTransaction.executeWithoutResult((status) -> insert());
		}

		@Transactional
		@DistributedLock(lease = "100ms", renew = false, onLost = OnLost.IGNORE)
		void placeThoughLost() {
			insert();
			lose();
		}

		int count() {
			Integer count = this.jdbc.queryForObject("SELECT count(*) FROM orders", Integer.class);
			return (count != null) ? count : -1;
		}

		private void insert() {
			this.jdbc.update("INSERT INTO orders VALUES (1)");
		}

		private static void lose() {
			LockLease lease = LockContext.current();
			await().until(() -> !lease.isHeld());
		}

	}

}
