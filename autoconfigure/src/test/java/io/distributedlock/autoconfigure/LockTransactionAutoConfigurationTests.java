package io.distributedlock.autoconfigure;

import java.lang.reflect.Method;
import java.util.function.Consumer;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.aop.Advisor;
import org.springframework.aop.MethodBeforeAdvice;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockContext;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockLostException;
import io.distributedlock.LockOperations;
import io.distributedlock.LockRequest;
import io.distributedlock.OnLost;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.autoconfigure.fencing.LockFencingAutoConfiguration;
import io.distributedlock.engine.EnclosingTransaction;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.transaction.LockCommitGuard;
import io.distributedlock.transaction.LockCommitGuardProcessor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.awaitility.Awaitility.await;

@ExtendWith(OutputCaptureExtension.class)
class LockTransactionAutoConfigurationTests {

	/** A context without a database, to be the parent of others. */
	private final ApplicationContextRunner locks = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(DistributedLockAutoConfiguration.class, LockTransactionAutoConfiguration.class))
		.withPropertyValues("distributed-lock.provider=local");

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

	@ParameterizedTest
	@CsvSource({ "off, 0", "no, 0", "0, 0", "on, 1", "yes, 1", "1, 1" })
	void guardIsReadInEverySpelling(String guard, int processors) {
		this.runner.withPropertyValues("distributed-lock.transaction.commit-guard=" + guard)
			.run((context) -> assertThat(context.getBeansOfType(LockCommitGuardProcessor.class)).hasSize(processors));
	}

	@Test
	void guardThatIsNoBooleanFailsTheStart() {
		this.runner.withPropertyValues("distributed-lock.transaction.commit-guard=abc")
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining("distributed-lock.transaction.commit-guard"));
	}

	@Test
	void transactionManagerOfAChildIsGuarded() {
		this.locks.run((parent) -> this.runner.withParent(parent).run((context) -> {
			Orders orders = context.getBean(Orders.class);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(orders::placeAndLose);
			assertThat(orders.count()).isZero();
			assertThat(context.getBean(ConfigurableTransactionManager.class).getTransactionExecutionListeners())
				.singleElement()
				.isInstanceOf(LockCommitGuard.class);
		}));
	}

	@Test
	void transactionManagerOfAChildWithoutTheAutoConfigurationIsNamed(CapturedOutput output) {
		String warning = "Transactions of the transaction manager 'transactionManager' of the child context";
		ApplicationContextRunner child = new ApplicationContextRunner().withConfiguration(AutoConfigurations
			.of(DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class));
		this.locks.run((parent) -> {
			this.runner.withParent(parent).run((context) -> assertThat(output).doesNotContain(warning));
			child.withParent(parent)
				.run((context) -> new ApplicationContextRunner().withParent(context)
					.run((grandchild) -> assertThat(output).containsOnlyOnce(warning)));
		});
	}

	@Test
	void switchedOffInTheParentNoChildIsNamed(CapturedOutput output) {
		this.locks.withPropertyValues("distributed-lock.transaction.commit-guard=false")
			.run((parent) -> new ApplicationContextRunner().withParent(parent)
				.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class,
						DataSourceTransactionManagerAutoConfiguration.class))
				.run((context) -> assertThat(output).doesNotContain("of the child context")));
	}

	@Test
	void noAdvisorIsCreatedTooEarlyForOtherPostProcessors(CapturedOutput output) {
		this.runner.withPropertyValues("distributed-lock.fencing.enabled=true")
			.withConfiguration(AutoConfigurations.of(LockFencingAutoConfiguration.class))
			.withUserConfiguration(Audited.class)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(output).doesNotContain("is not eligible for getting processed by all BeanPostProcessors");
			});
	}

	@Test
	void applicationMayBringItsOwnTransactions() {
		EnclosingTransaction own = EnclosingTransaction.NONE;
		this.runner.withBean("own", EnclosingTransaction.class, () -> own)
			.run((context) -> assertThat(context.getBean(EnclosingTransaction.class)).isSameAs(own));
	}

	@Test
	void nothingIsConfiguredWithoutSpringsTransactions() {
		new ApplicationContextRunner().withClassLoader(new FilteredClassLoader("org.springframework.transaction"))
			.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
					LockTransactionAutoConfiguration.class))
			.withPropertyValues("distributed-lock.provider=local")
			.run((context) -> {
				assertThat(context).doesNotHaveBean(EnclosingTransaction.class);
				context.getBean(LockOperations.class).execute(LockRequest.of(LockKey.of("k")), (lease) -> null);
				assertThat(context.getBean(LockTemplate.class).snapshot().held()).isEmpty();
			});
	}

	@ParameterizedTest
	@CsvSource({ "AFTER_COMPLETION, true", "afterCompletion, true", "at-method-end, false", "atMethodEnd, false" })
	void releaseIsReadInEverySpelling(String release, boolean kept) {
		this.runner.withPropertyValues("distributed-lock.transaction.release=" + release)
			.run((context) -> new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
				.executeWithoutResult((status) -> {
					context.getBean(Orders.class).place();
					assertThat(context.getBean(LockTemplate.class).snapshot().held()).hasSize(kept ? 1 : 0);
				}));
	}

	@ParameterizedTest
	@CsvSource({ "-1ms, 30s, cannot be negative", "20s, 30s, only 20000 ms are left when it is renewed",
			"2s, 3s, only 2000 ms are left", "300, 30s, needs a unit" })
	void commitMarginThatCannotWorkFailsTheStart(String margin, String lease, String problem) {
		this.runner
			.withPropertyValues("distributed-lock.transaction.commit-margin=" + margin,
					"distributed-lock.lease=" + lease)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOfSatisfying(LockConfigurationException.class,
						(ex) -> assertThat(ex.error()).isEqualTo(LockError.INVALID_PROPERTY))
				.hasMessageContaining("distributed-lock.transaction.commit-margin")
				.hasMessageContaining(problem));
	}

	@Test
	void commitMarginBelowTheLeaseAtItsRenewalIsAccepted() {
		this.runner.withPropertyValues("distributed-lock.transaction.commit-margin=19999ms")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	private void run(Consumer<Orders> call, int expected) {
		this.runner.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			call.accept(orders);
			assertThat(orders.count()).isEqualTo(expected);
		});
	}

	/** Has an advisor that needs a bean. */
	@Configuration(proxyBeanMethods = false)
	static class Audited {

		@Bean
		static Audit audit() {
			return new Audit();
		}

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static Advisor auditAdvisor(Audit audit) {
			return new DefaultPointcutAdvisor(new NameMatchMethodPointcut(), audit);
		}

	}

	static class Audit implements MethodBeforeAdvice {

		@Override
		public void before(Method method, @Nullable Object[] arguments, @Nullable Object target) {
			// Writes nothing.
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Shop {

		@Bean
		Orders orders(DataSource dataSource, PlatformTransactionManager transactions, LockTemplate locks) {
			return new Orders(new JdbcTemplate(dataSource), transactions, locks);
		}

	}

	static class Orders {

		private final JdbcTemplate jdbc;

		private final TransactionTemplate newTransaction;

		private final LockTemplate locks;

		Orders(JdbcTemplate jdbc, PlatformTransactionManager transactions, LockTemplate locks) {
			this.jdbc = jdbc;
			this.locks = locks;
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
		@DistributedLock
		void placeAndLose() {
			insert();
			lose();
		}

		@DistributedLock(lease = "500ms", renew = false)
		void loseAndPlaceInANewOne() {
			LockLease lease = LockContext.current();
			await().until(() -> !lease.isHeld());
			this.newTransaction.executeWithoutResult((status) -> insert());
		}

		@Transactional
		@DistributedLock(onLost = OnLost.IGNORE)
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

		/** A lease that ends by itself may do so before the method begins. */
		private void lose() {
			this.locks.forceRelease(LockContext.current().keys().get(0));
		}

	}

}
