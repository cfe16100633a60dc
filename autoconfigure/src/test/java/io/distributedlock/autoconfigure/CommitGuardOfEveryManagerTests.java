package io.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

import javax.sql.DataSource;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.ObjectFactory;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.CustomScopeConfigurer;
import org.springframework.beans.factory.support.ScopeNotActiveException;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Primary;
import org.springframework.context.annotation.Role;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.ReactiveTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

import io.distributedlock.LockKey;
import io.distributedlock.LockLostException;
import io.distributedlock.LockOperations;
import io.distributedlock.LockRequest;
import io.distributedlock.transaction.LockCommitGuard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;
import static org.mockito.Mockito.mock;

/** Commits real transactions in H2 under a lost lock, whatever made their manager. */
@ExtendWith(OutputCaptureExtension.class)
class CommitGuardOfEveryManagerTests {

	private static final String WARNING = "is not guarded";

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class,
				DistributedLockAutoConfiguration.class, LockTransactionAutoConfiguration.class))
		.withPropertyValues("spring.datasource.generate-unique-name=true", "distributed-lock.provider=local");

	@Test
	void managerOfAFactoryBeanIsGuarded(CapturedOutput output) {
		this.runner.withUserConfiguration(MadeByFactoryBean.class).run((context) -> {
			assertRolledBack(context);
			assertThat(output).doesNotContain(WARNING);
		});
	}

	@Test
	void managerThatWasCreatedEarlyIsGuarded(CapturedOutput output) {
		this.runner.withUserConfiguration(CreatedEarly.class).run((context) -> {
			assertRolledBack(context);
			assertThat(output).doesNotContain(WARNING);
		});
	}

	@Test
	void productOfAnEarlyFactoryBeanIsGuarded() {
		this.runner.withUserConfiguration(MadeEarlyByFactoryBean.class)
			.run(CommitGuardOfEveryManagerTests::assertRolledBack);
	}

	@Test
	void lazyManagerIsGuarded() {
		this.runner.withUserConfiguration(CreatedLate.class).run((context) -> {
			assertThat(context.getBeanFactory().containsSingleton("transactionManager")).isFalse();
			assertRolledBack(context);
		});
	}

	@Test
	void unguardedManagerIsNamedOnceAtStart(CapturedOutput output) {
		this.runner.withUserConfiguration(Wrapped.class)
			.run((context) -> assertThat(output).contains("WARN")
				.containsOnlyOnce(WARNING)
				.contains("The transaction manager 'transactionManager' (" + Delegating.class.getName() + ")")
				.contains("ConfigurableTransactionManager"));
	}

	@Test
	void unguardedLazyManagerIsNamedWhenCreated(CapturedOutput output) {
		this.runner.withUserConfiguration(WrappedLate.class).run((context) -> {
			assertThat(output).doesNotContain(WARNING);
			context.getBean(PlatformTransactionManager.class);
			assertThat(output).containsOnlyOnce(WARNING);
		});
	}

	@Test
	void managerThatIsWrappedAfterItsGuardIsGuarded(CapturedOutput output) {
		this.runner.withUserConfiguration(WrappedByAPostProcessor.class).run((context) -> {
			assertThat(context.getBean(PlatformTransactionManager.class)).isInstanceOf(Delegating.class);
			assertRolledBack(context);
			assertThat(output).doesNotContain(WARNING);
		});
	}

	@Test
	void reactiveManagerIsNamedAtStart(CapturedOutput output) {
		this.runner
			.withBean("reactiveManager", ReactiveTransactionManager.class, () -> mock(ReactiveTransactionManager.class))
			.run((context) -> assertThat(output).contains("'reactiveManager'")
				.containsOnlyOnce(WARNING)
				.contains("fencing token"));
	}

	@Test
	void wrapperOfAGuardedBeanIsNamedTruthfully(CapturedOutput output) {
		this.runner.withUserConfiguration(WrappedBean.class).run((context) -> {
			assertThat(output).containsOnlyOnce(WARNING)
				.contains("The transaction manager 'wrapper'")
				.contains("unless the transaction manager that it wraps is a bean of its own, which is guarded");
			assertRolledBack(context);
		});
	}

	@Test
	void managerOfAnInactiveScopeDoesNotFailTheStart(CapturedOutput output) {
		this.runner.withUserConfiguration(Scoped.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).doesNotContain(WARNING);
			context.getBean(TenantScope.class).activate();
			assertRolledBack(context);
		});
	}

	@Test
	void targetOfAClassProxyIsGuarded(CapturedOutput output) {
		this.runner.withUserConfiguration(Advised.class).run((context) -> {
			Object proxy = context.getBean(PlatformTransactionManager.class);
			assertThat(AopUtils.isCglibProxy(proxy)).isTrue();
			assertThat(output).doesNotContain(WARNING);
			assertThat(AopProxyUtils.getSingletonTarget(proxy)).isInstanceOfSatisfying(JdbcTransactionManager.class,
					(target) -> assertThat(target.getTransactionExecutionListeners())
						.hasAtLeastOneElementOfType(LockCommitGuard.class));
		});
	}

	@Test
	void proxyWithoutListenersIsNamedAtStart(CapturedOutput output) {
		this.runner
			.withInitializer((context) -> context.getBeanFactory()
				.registerSingleton("proxied", proxyOf(new JdbcTransactionManager(mock(DataSource.class)))))
			.run((context) -> assertThat(output).containsOnlyOnce(WARNING).contains("'proxied'"));
	}

	@Test
	void unusedProductOfAFactoryBeanIsNotCreated() {
		this.runner.withBean("unused", FailingFactoryBean.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(context.getBean("&unused", FailingFactoryBean.class).calls()).isZero();
		});
	}

	private static Object proxyOf(Object target) {
		ProxyFactory factory = new ProxyFactory(target);
		factory.setProxyTargetClass(true);
		return factory.getProxy();
	}

	private static void assertRolledBack(AssertableApplicationContext context) {
		JdbcTemplate jdbc = new JdbcTemplate(context.getBean(DataSource.class));
		jdbc.execute("CREATE TABLE orders (id INT)");
		TransactionTemplate transaction = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
		LockRequest brief = LockRequest.of(LockKey.of("k")).withLease(Duration.ofMillis(500)).withoutRenewal();
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> context.getBean(LockOperations.class).execute(brief, (lease) -> {
				transaction.executeWithoutResult((status) -> {
					jdbc.update("INSERT INTO orders VALUES (1)");
					await().until(() -> !lease.isHeld());
				});
				return null;
			}));
		assertThat(jdbc.queryForObject("SELECT count(*) FROM orders", Integer.class)).isZero();
		LockRequest renewed = LockRequest.of(LockKey.of("k"));
		context.getBean(LockOperations.class).execute(renewed, (lease) -> {
			transaction.executeWithoutResult((status) -> jdbc.update("INSERT INTO orders VALUES (2)"));
			return null;
		});
		assertThat(jdbc.queryForObject("SELECT count(*) FROM orders", Integer.class)).isOne();
	}

	@Configuration(proxyBeanMethods = false)
	static class MadeByFactoryBean {

		@Bean
		static ManagerFactoryBean transactionManager(DataSource dataSource) {
			return new ManagerFactoryBean(dataSource);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class CreatedEarly {

		@Bean
		JdbcTransactionManager transactionManager(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

		@Bean
		static EarlyPostProcessor needsTheManagerEarly(PlatformTransactionManager manager) {
			return new EarlyPostProcessor(manager);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class MadeEarlyByFactoryBean {

		@Bean
		static ManagerFactoryBean transactionManager(DataSource dataSource) {
			return new ManagerFactoryBean(dataSource);
		}

		@Bean
		static EarlyPostProcessor needsTheManagerEarly(PlatformTransactionManager manager) {
			return new EarlyPostProcessor(manager);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class CreatedLate {

		@Bean
		@Lazy
		JdbcTransactionManager transactionManager(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Wrapped {

		@Bean
		PlatformTransactionManager transactionManager(DataSource dataSource) {
			return new Delegating(new JdbcTransactionManager(dataSource));
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class WrappedBean {

		@Bean
		JdbcTransactionManager wrapped(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

		@Bean
		@Primary
		PlatformTransactionManager wrapper(JdbcTransactionManager wrapped) {
			return new Delegating(wrapped);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Scoped {

		@Bean
		static TenantScope tenantScope() {
			return new TenantScope();
		}

		@Bean
		static CustomScopeConfigurer scopes(TenantScope tenants) {
			CustomScopeConfigurer configurer = new CustomScopeConfigurer();
			configurer.addScope("tenant", tenants);
			return configurer;
		}

		@Bean
		@Scope(scopeName = "tenant", proxyMode = ScopedProxyMode.INTERFACES)
		JdbcTransactionManager transactionManager(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Advised {

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static Advisor commits() {
			NameMatchMethodPointcut pointcut = new NameMatchMethodPointcut();
			pointcut.setClassFilter(PlatformTransactionManager.class::isAssignableFrom);
			pointcut.setMappedName("setNestedTransactionAllowed");
			return new DefaultPointcutAdvisor(pointcut, (MethodInterceptor) MethodInvocation::proceed);
		}

		@Bean
		PlatformTransactionManager transactionManager(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

	}

	/** Scope that is not active while the application starts. */
	static final class TenantScope implements org.springframework.beans.factory.config.Scope {

		private final Map<String, Object> beans = new HashMap<>();

		private boolean active;

		void activate() {
			this.active = true;
		}

		@Override
		public Object get(String name, ObjectFactory<?> factory) {
			if (!this.active) {
				throw new ScopeNotActiveException(name, "tenant", new IllegalStateException("No tenant"));
			}
			return this.beans.computeIfAbsent(name, (key) -> factory.getObject());
		}

		@Override
		public @Nullable Object remove(String name) {
			return this.beans.remove(name);
		}

		@Override
		public void registerDestructionCallback(String name, Runnable callback) {
		}

	}

	static final class FailingFactoryBean implements FactoryBean<PlatformTransactionManager> {

		private int calls;

		int calls() {
			return this.calls;
		}

		@Override
		public PlatformTransactionManager getObject() {
			this.calls++;
			throw new IllegalStateException("not configured");
		}

		@Override
		public Class<?> getObjectType() {
			return PlatformTransactionManager.class;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class WrappedLate {

		@Bean
		@Lazy
		PlatformTransactionManager transactionManager(DataSource dataSource) {
			return new Delegating(new JdbcTransactionManager(dataSource));
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class WrappedByAPostProcessor {

		@Bean
		PlatformTransactionManager transactionManager(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

		@Bean
		static BeanPostProcessor wrapper() {
			return new BeanPostProcessor() {

				@Override
				public Object postProcessAfterInitialization(Object bean, String beanName) {
					return (bean instanceof PlatformTransactionManager manager) ? new Delegating(manager) : bean;
				}

			};
		}

	}

	/** Comes before every other post-processor, and with it what it needs. */
	record EarlyPostProcessor(PlatformTransactionManager manager) implements BeanPostProcessor, PriorityOrdered {

		@Override
		public int getOrder() {
			return Ordered.HIGHEST_PRECEDENCE;
		}

	}

	static final class ManagerFactoryBean implements FactoryBean<PlatformTransactionManager> {

		private final PlatformTransactionManager manager;

		ManagerFactoryBean(DataSource dataSource) {
			this.manager = new JdbcTransactionManager(dataSource);
		}

		@Override
		public PlatformTransactionManager getObject() {
			return this.manager;
		}

		@Override
		public Class<?> getObjectType() {
			return PlatformTransactionManager.class;
		}

	}

	record Delegating(PlatformTransactionManager target) implements PlatformTransactionManager {

		@Override
		public TransactionStatus getTransaction(TransactionDefinition definition) {
			return this.target.getTransaction(definition);
		}

		@Override
		public void commit(TransactionStatus status) {
			this.target.commit(status);
		}

		@Override
		public void rollback(TransactionStatus status) {
			this.target.rollback(status);
		}

	}

}
