package io.distributedlock.autoconfigure;

import javax.sql.DataSource;

import org.aopalliance.aop.Advice;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.ApplicationObjectSupport;
import org.springframework.core.PriorityOrdered;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.interceptor.TransactionInterceptor;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockContext;
import io.distributedlock.LockError;
import io.distributedlock.LockOperations;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.interceptor.LockedProxies;
import io.distributedlock.interceptor.RecordingLockOperations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

@ExtendWith(OutputCaptureExtension.class)
class LockProxyTests {

	private final RecordingLockOperations operations = new RecordingLockOperations();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, DistributedLockAutoConfiguration.class))
		.withBean(LockOperations.class, () -> this.operations);

	private final ApplicationContextRunner transactional = this.runner
		.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class,
				DataSourceTransactionManagerAutoConfiguration.class, TransactionAutoConfiguration.class));

	@ParameterizedTest
	@ValueSource(strings = { "spring.aop.auto=true", "spring.aop.auto=false", "spring.aop.proxy-target-class=false" })
	void annotatedBeansAreProxiedWithoutAspectJ(String property) {
		this.runner.withPropertyValues(property).withBean(Job.class).run((context) -> {
			context.getBean(Job.class).run();
			assertThat(this.operations.keys()).containsExactly("Job.run");
		});
	}

	@Test
	void beansMayBeProxiedByInterface() {
		this.runner.withPropertyValues("spring.aop.proxy-target-class=false")
			.withBean(Task.class, () -> new InterfaceJob())
			.run((context) -> {
				assertThat(AopUtils.isJdkDynamicProxy(context.getBean(Task.class))).isTrue();
				context.getBean(Task.class).run();
				assertThat(this.operations.keys()).containsExactly("InterfaceJob.run");
			});
	}

	@Test
	void methodInNoInterfaceOfAJdkProxyIsRefused() {
		this.runner.withPropertyValues("spring.aop.proxy-target-class=false")
			.withBean(Task.class, () -> new HiddenMethod())
			.run((context) -> assertThat(error(context.getStartupFailure())).isEqualTo(LockError.NOT_PROXYABLE));
	}

	@Test
	void lockStaysOutsideTheTransaction() {
		this.transactional.withBean(TransactionalJob.class).run((context) -> {
			TransactionalJob job = context.getBean(TransactionalJob.class);
			assertThat(job.run(this.operations)).isEqualTo("locked in transaction");
			assertThat(TransactionProbe.committedInsideLock()).isTrue();
		});
	}

	@Test
	void transactionOutsideTheLockFailsTheStart() {
		this.transactional.withUserConfiguration(EarlyTransactions.class)
			.withBean(TransactionalJob.class)
			.run((context) -> {
				assertThat(error(context.getStartupFailure())).isEqualTo(LockError.ADVISOR_ORDER);
				assertThat(context.getStartupFailure()).hasStackTraceContaining("distributed-lock.aop.order")
					.hasStackTraceContaining(TransactionalJob.class.getName() + ".run(")
					.hasStackTraceContaining("of the bean 'lockProxyTests.TransactionalJob'");
			});
	}

	@Test
	void transactionOutsideTheLockOfAnEarlierBeanFailsTheStart() {
		Object made = new LockedProxies(this.operations).ofClass(new TransactionalJob(), transactionsAt(0));
		this.transactional.withInitializer((context) -> context.getBeanFactory().registerSingleton("made", made))
			.run((context) -> {
				assertThat(error(context.getStartupFailure())).isEqualTo(LockError.ADVISOR_ORDER);
				assertThat(context.getStartupFailure()).hasStackTraceContaining("'made'");
			});
	}

	@Test
	void transactionOutsideTheLockOfALazyBeanIsRefused() {
		this.transactional.withUserConfiguration(EarlyTransactions.class)
			.withBean(TransactionalJob.class, TransactionalJob::new, (definition) -> definition.setLazyInit(true))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(error(catchThrowable(() -> context.getBean(TransactionalJob.class))))
					.isEqualTo(LockError.ADVISOR_ORDER);
			});
	}

	@ParameterizedTest
	@ValueSource(strings = { "true", "false" })
	void orderOfTransactionsIsFreeWhereNoMethodHasBoth(String proxyClasses) {
		this.transactional.withUserConfiguration(EarlyTransactions.class)
			.withPropertyValues("spring.aop.proxy-target-class=" + proxyClasses)
			.withBean(Booking.class, Account::new)
			.run((context) -> {
				Booking booking = context.getBean(Booking.class);
				assertThat(booking.lockOnly()).isEqualTo("locked alone");
				assertThat(booking.transactionOnly()).isEqualTo("unlocked in transaction");
			});
	}

	private static DefaultPointcutAdvisor transactionsAt(int order) {
		DefaultPointcutAdvisor transactions = new DefaultPointcutAdvisor(new TransactionInterceptor());
		transactions.setOrder(order);
		return transactions;
	}

	@Test
	void noOrdinaryBeanIsCreatedEarly(CapturedOutput output) {
		this.transactional.withBean(TransactionalJob.class).withBean(Job.class).run((context) -> {
			assertThat(context).hasSingleBean(DataSource.class);
			assertThat(output).doesNotContain("not eligible for getting processed");
		});
	}

	@Test
	void lazyPrototypeAndScopedBeansAreLockedWhenCreated() {
		LazyJob.created = 0;
		this.runner.withUserConfiguration(Unready.class).run((context) -> {
			assertThat(LazyJob.created).isZero();
			context.getBean(LazyJob.class).run();
			assertThat(this.operations.keys()).containsExactly("LazyJob.run");
			context.getBean("prototype", Job.class).run();
			context.getBean("scoped", Job.class).run();
			assertThat(this.operations.requests()).hasSize(3);
		});
	}

	@Test
	void beanThatWasCreatedTooEarlyIsNamed() {
		this.runner.withUserConfiguration(TooEarly.class).run((context) -> {
			assertThat(error(context.getStartupFailure())).isEqualTo(LockError.NOT_ADVISED);
			assertThat(context.getStartupFailure()).hasStackTraceContaining("'earlyJob'");
		});
	}

	@Test
	void singletonRegisteredByHandIsNamed() {
		this.runner.withInitializer((context) -> context.getBeanFactory().registerSingleton("foreign", new Job()))
			.run((context) -> assertThat(error(context.getStartupFailure())).isEqualTo(LockError.NOT_ADVISED));
	}

	@Test
	void prototypeWithoutTheAdvisorIsRefusedWhenCreated() {
		this.runner.withUserConfiguration(Unproxied.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(error(catchThrowable(() -> context.getBean("advisingJob")))).isEqualTo(LockError.NOT_ADVISED);
		});
	}

	@Test
	void beansInACycleAreLocked() {
		this.runner.withAllowCircularReferences(true).withBean(Left.class).withBean(Right.class).run((context) -> {
			assertThat(context).hasNotFailed();
			context.getBean(Right.class).callLeft();
			assertThat(this.operations.keys()).containsExactly("Left.run");
		});
	}

	@Test
	void annotatedSubclassOfASupportClassOfSpringIsLocked() {
		this.runner.withBean(Supported.class).run((context) -> {
			context.getBean(Supported.class).run();
			assertThat(this.operations.keys()).containsExactly("Supported.run");
		});
	}

	@Test
	void finalClassIsRefused() {
		this.runner.withBean(FinalJob.class)
			.run((context) -> assertThat(error(context.getStartupFailure())).isEqualTo(LockError.NOT_PROXYABLE));
	}

	@Test
	void productsOfFactoryBeansAreLocked() {
		this.runner.withBean(TaskFactory.class).run((context) -> {
			context.getBean(AnnotatedTask.class).run();
			assertThat(this.operations.keys()).containsExactly("AnnotatedTask.run");
		});
	}

	@Test
	void mistakeInALaterMethodOfAClassFailsTheStart() {
		this.runner.withBean(SecondMethodWrong.class)
			.run((context) -> assertThat(error(context.getStartupFailure())).isEqualTo(LockError.UNKNOWN_VARIABLE));
	}

	@Test
	void beanOfAChildContextIsLockedByAKeyOfTheChild() {
		this.runner.run((parent) -> new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
			.withParent(parent)
			.withBean("tenants", String.class, () -> "acme")
			.withBean(TenantJob.class)
			.run((child) -> {
				assertThat(child).hasNotFailed();
				child.getBean(TenantJob.class).run();
				assertThat(this.operations.keys()).containsExactly("TenantJob.run:acme");
			}));
	}

	private static LockError error(Throwable failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause instanceof LockConfigurationException ex) {
				return ex.error();
			}
		}
		throw new AssertionError("No LockConfigurationException", failure);
	}

	static class Job {

		@DistributedLock
		void run() {
		}

	}

	static class TenantJob {

		@DistributedLock("@tenants")
		void run() {
		}

	}

	interface Task {

		void run();

	}

	static class InterfaceJob implements Task {

		@Override
		@DistributedLock
		public void run() {
		}

	}

	static class HiddenMethod implements Task {

		@Override
		@DistributedLock
		public void run() {
		}

		@DistributedLock
		public void hidden() {
		}

	}

	@DistributedLock
	static class Supported extends ApplicationObjectSupport {

		public void run() {
		}

	}

	static final class FinalJob {

		@DistributedLock
		void run() {
		}

	}

	static class SecondMethodWrong {

		@DistributedLock
		void first() {
		}

		@DistributedLock("#nothing")
		void second() {
		}

	}

	static class TransactionalJob {

		@Transactional
		@DistributedLock
		public String run(RecordingLockOperations operations) {
			TransactionProbe.register();
			return state();
		}

		static String state() {
			boolean locked = LockContext.find().isPresent();
			boolean transaction = TransactionSynchronizationManager.isActualTransactionActive();
			return (locked ? "locked" : "unlocked") + (transaction ? " in transaction" : " alone");
		}

	}

	interface Booking {

		String lockOnly();

		String transactionOnly();

	}

	static class Account implements Booking {

		@Override
		@DistributedLock
		public String lockOnly() {
			return TransactionalJob.state();
		}

		@Override
		@Transactional
		public String transactionOnly() {
			return TransactionalJob.state();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement(order = 0)
	static class EarlyTransactions {

	}

	static class LazyJob extends Job {

		static int created;

		LazyJob() {
			created++;
		}

		@Override
		@DistributedLock
		void run() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Unready {

		@Bean
		@Lazy
		LazyJob lazyJob() {
			return new LazyJob();
		}

		@Bean
		@Scope("prototype")
		Job prototype() {
			return new Job();
		}

		@Bean
		@Scope(scopeName = "prototype", proxyMode = ScopedProxyMode.TARGET_CLASS)
		Job scoped() {
			return new Job();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TooEarly {

		@Bean
		static Job earlyJob() {
			return new Job();
		}

		@Bean
		static PriorityPostProcessor dragging(BeanFactory beanFactory) {
			beanFactory.getBean("earlyJob");
			return new PriorityPostProcessor();
		}

	}

	static class PriorityPostProcessor implements BeanPostProcessor, PriorityOrdered {

		@Override
		public int getOrder() {
			return 0;
		}

	}

	/** Spring proxies no advice, whatever it is annotated with. */
	static class AdvisingJob implements Advice {

		@DistributedLock
		void run() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Unproxied {

		@Bean
		@Scope("prototype")
		AdvisingJob advisingJob() {
			return new AdvisingJob();
		}

	}

	interface AnnotatedTask extends Task {

		@Override
		@DistributedLock
		void run();

	}

	static class TaskFactory implements FactoryBean<AnnotatedTask> {

		@Override
		public AnnotatedTask getObject() {
			return ProxyFactory.getProxy(AnnotatedTask.class, (MethodInterceptor) (invocation) -> null);
		}

		@Override
		public Class<?> getObjectType() {
			return AnnotatedTask.class;
		}

	}

	static class Left {

		@Autowired
		Right right;

		@DistributedLock
		void run() {
		}

	}

	static class Right {

		@Autowired
		Left left;

		void callLeft() {
			this.left.run();
		}

	}

}
