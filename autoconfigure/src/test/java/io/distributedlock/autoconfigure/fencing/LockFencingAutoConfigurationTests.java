package io.distributedlock.autoconfigure.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

import javax.sql.DataSource;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.jta.JtaTransactionManager;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.autoconfigure.LockTransactionAutoConfiguration;
import io.distributedlock.engine.EnclosingTransaction;
import io.distributedlock.fencing.FencedTransactions;
import io.distributedlock.jdbc.TestDatabases;
import io.distributedlock.transaction.LockCommitGuard;
import io.distributedlock.transaction.SpringTransaction;

import static org.assertj.core.api.Assertions.assertThat;

/** When transactions are fenced, and which mistakes fail the start. */
@ExtendWith(OutputCaptureExtension.class)
class LockFencingAutoConfigurationTests {

	private final ApplicationContextRunner off = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class,
				DataSourceTransactionManagerAutoConfiguration.class, LockFencingAutoConfiguration.class,
				LockTransactionAutoConfiguration.class))
		.withPropertyValues("spring.datasource.generate-unique-name=true", "distributed-lock.provider=local");

	private final ApplicationContextRunner on = this.off.withPropertyValues("distributed-lock.fencing.enabled=true");

	private static LockError error(Throwable failure) {
		Throwable cause = failure;
		while (cause.getCause() != null && !(cause instanceof LockConfigurationException)) {
			cause = cause.getCause();
		}
		assertThat(cause).isInstanceOf(LockConfigurationException.class);
		return ((LockConfigurationException) cause).error();
	}

	@Test
	void offByDefaultAndThenOfNoCost() {
		this.off.run((context) -> {
			assertThat(context).doesNotHaveBean(FencedTransactions.class).doesNotHaveBean(FenceSchemaInitializer.class);
			assertThat(context.getBean(EnclosingTransaction.class)).isInstanceOf(SpringTransaction.class);
			assertThat(context.getBean(ConfigurableTransactionManager.class).getTransactionExecutionListeners())
				.hasOnlyElementsOfType(LockCommitGuard.class);
		});
	}

	@Test
	void eachTransactionManagerHasOneListener() {
		this.on.run((context) -> {
			Collection<?> listeners = context.getBean(ConfigurableTransactionManager.class)
				.getTransactionExecutionListeners();
			assertThat(listeners)
				.filteredOn((listener) -> listener.getClass().getSimpleName().equals("FencingListener"))
				.hasSize(1);
		});
	}

	@Test
	void startWithoutTheTableFailsAndHasTheStatement() {
		this.on
			.withPropertyValues("distributed-lock.fencing.initialize-schema=never",
					"distributed-lock.fencing.table=my_fences")
			.run((context) -> {
				assertThat(context).hasFailed();
				assertThat(error(context.getStartupFailure())).isEqualTo(LockError.FENCE_TABLE_MISSING);
				assertThat(context.getStartupFailure()).hasMessageContaining("CREATE TABLE IF NOT EXISTS my_fences")
					.hasMessageContaining("transactionManager");
			});
	}

	@Test
	void tableHasTheConfiguredName() {
		this.on.withPropertyValues("distributed-lock.fencing.table=my_fences")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void jtaIsRefused() {
		this.on.withBean("jta", JtaTransactionManager.class, UnusableJta::new).run((context) -> {
			assertThat(context).hasFailed();
			assertThat(error(context.getStartupFailure())).isEqualTo(LockError.FENCE_UNSUPPORTED);
		});
	}

	@Test
	void transactionManagerThatCannotBeFencedIsNamed(CapturedOutput output) {
		this.on.withBean("wrapper", PlatformTransactionManager.class, () -> new Wrapper(new Resourceless()))
			.run((context) -> assertThat(output).contains("Transactions of the transaction manager 'wrapper'"));
	}

	@Test
	@Tag("full")
	void transactionManagerOfAParentContextIsNamed(CapturedOutput output) {
		new ApplicationContextRunner().withBean("above", PlatformTransactionManager.class, Resourceless::new)
			.run((parent) -> this.on.withParent(parent)
				.run((context) -> assertThat(output).contains("Transactions of the transaction manager 'above'")
					.contains("parent context")));
	}

	@Test
	void fencedTransactionManagerOfAParentContextIsNotNamed(CapturedOutput output) {
		this.on.run((parent) -> this.on.withParent(parent).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).doesNotContain("are not fenced");
		}));
	}

	@Test
	void transactionManagerOfAChildIsFencedByTheFencesOfItsParent(CapturedOutput output) {
		DataSource orders = TestDatabases.h2();
		this.on.run((parent) -> this.on.withParent(parent)
			.withBean("orders", DataSource.class, () -> orders, (bean) -> bean.setPrimary(true))
			.withBean("orderTransactions", DataSourceTransactionManager.class,
					() -> new DataSourceTransactionManager(orders))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(context.getBean("orderTransactions", ConfigurableTransactionManager.class)
					.getTransactionExecutionListeners()).extracting((listener) -> listener.getClass().getSimpleName())
					.containsExactlyInAnyOrder("FencingListener", "LockCommitGuard");
				assertThat(context.getBean(FencedTransactions.class))
					.isSameAs(parent.getBean(FencedTransactions.class));
				assertThat(output).doesNotContain("are not fenced");
			}));
	}

	@Test
	void lazyTransactionManagerOfAParentContextIsNotCreated() {
		AtomicBoolean created = new AtomicBoolean();
		new ApplicationContextRunner().withBean("above", PlatformTransactionManager.class, () -> {
			created.set(true);
			return new Resourceless();
		}, (definition) -> definition.setLazyInit(true)).run((parent) -> this.on.withParent(parent).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(created).isFalse();
		}));
	}

	@Test
	void enclosingTransactionThatFencesNoLocksIsRefused() {
		this.on.withBean("own", EnclosingTransaction.class, SpringTransaction::new).run((context) -> {
			assertThat(context).hasFailed();
			assertThat(error(context.getStartupFailure())).isEqualTo(LockError.FENCE_UNSUPPORTED);
			assertThat(context.getStartupFailure()).hasMessageContaining("'own'")
				.hasMessageContaining("FencedEnclosingTransaction");
		});
	}

	@Test
	@Tag("full")
	@Timeout(60)
	void databaseThatHangsDelaysTheStartForTheTimeoutOfTheCheck(CapturedOutput output) {
		CountDownLatch thawed = new CountDownLatch(1);
		this.on
			.withBean("frozen", DataSourceTransactionManager.class,
					() -> new DataSourceTransactionManager(new FrozenDataSource(thawed)))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(output).contains("database of transaction manager 'frozen' did not answer within 10000 ms");
				assertThat(thawed.getCount()).isEqualTo(1);
			});
		thawed.countDown();
	}

	@Test
	@Tag("full")
	void openInViewIsWarnedOf(CapturedOutput output) {
		WebApplicationContextRunner web = new WebApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(DataSourceAutoConfiguration.class, HibernateJpaAutoConfiguration.class,
							LockFencingAutoConfiguration.class, LockTransactionAutoConfiguration.class))
			.withPropertyValues("spring.datasource.generate-unique-name=true", "distributed-lock.provider=local",
					"distributed-lock.fencing.enabled=true");
		String warning = "do not cover what a persistence context has read before";
		web.withPropertyValues("spring.jpa.open-in-view=false").run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).doesNotContain(warning);
		});
		web.run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).contains(warning);
		});
	}

	@Test
	void locksThatEndBeforeTheirTransactionAreRefused() {
		this.on.withPropertyValues("distributed-lock.transaction.release=at-method-end").run((context) -> {
			assertThat(context).hasFailed();
			assertThat(error(context.getStartupFailure())).isEqualTo(LockError.INVALID_PROPERTY);
		});
	}

	@Test
	@Tag("full")
	void timeoutThatNoStatementCanHaveIsRefused() {
		this.on.withPropertyValues("distributed-lock.fencing.timeout=10ms").run((context) -> {
			assertThat(context).hasFailed();
			assertThat(error(context.getStartupFailure())).isEqualTo(LockError.INVALID_PROPERTY);
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "x (a INT); CREATE TABLE injected", "my-fence", "order" })
	void nameThatIsNoTableIsRefused(String table) {
		this.on.withPropertyValues("distributed-lock.fencing.table=" + table).run((context) -> {
			assertThat(context).hasFailed();
			assertThat(error(context.getStartupFailure())).isEqualTo(LockError.INVALID_PROPERTY);
			assertThat(context.getStartupFailure())
				.hasStackTraceContaining("distributed-lock.fencing.table is '" + table + "'");
		});
	}

	@Test
	void tableThatLacksColumnsIsRefused() {
		this.on
			.withPropertyValues("spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID()
					+ ";INIT=CREATE TABLE IF NOT EXISTS distributed_lock_fence(fence_key INT)")
			.run((context) -> {
				assertThat(context).hasFailed();
				assertThat(error(context.getStartupFailure())).isEqualTo(LockError.FENCE_TABLE_MISSING);
			});
	}

	@Test
	void applicationWithoutJdbcIsRefused() {
		this.on.withClassLoader(new FilteredClassLoader(ConnectionHolder.class)).run((context) -> {
			assertThat(context).hasFailed();
			assertThat(error(context.getStartupFailure())).isEqualTo(LockError.FENCE_UNSUPPORTED);
		});
	}

	/** Is never asked for a transaction. */
	private static final class UnusableJta extends JtaTransactionManager {

		private static final long serialVersionUID = 1L;

		@Override
		public void afterPropertiesSet() {
			// There is no JTA here.
		}

	}

	/** Has a connection only once it is thawed. */
	private static final class FrozenDataSource extends AbstractDataSource {

		private final CountDownLatch thawed;

		private FrozenDataSource(CountDownLatch thawed) {
			this.thawed = thawed;
		}

		@Override
		public Connection getConnection() throws SQLException {
			try {
				this.thawed.await();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
			throw new SQLException("thawed");
		}

		@Override
		public Connection getConnection(String username, String password) throws SQLException {
			return getConnection();
		}

	}

	private record Wrapper(PlatformTransactionManager wrapped) implements PlatformTransactionManager {

		@Override
		public TransactionStatus getTransaction(TransactionDefinition definition) {
			return this.wrapped.getTransaction(definition);
		}

		@Override
		public void commit(TransactionStatus status) {
			this.wrapped.commit(status);
		}

		@Override
		public void rollback(TransactionStatus status) {
			this.wrapped.rollback(status);
		}

	}

	private static final class Resourceless extends AbstractPlatformTransactionManager {

		private static final long serialVersionUID = 1L;

		@Override
		protected Object doGetTransaction() {
			return Map.of();
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
			// There is no resource.
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
			// There is no resource.
		}

		@Override
		protected void doRollback(DefaultTransactionStatus status) {
			// There is no resource.
		}

	}

}
