package io.distributedlock.interceptor.verify;

import java.io.Serializable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Constructor;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.DefaultIntroductionAdvisor;
import org.springframework.aop.support.DelegatingIntroductionInterceptor;
import org.springframework.aop.target.SingletonTargetSource;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.OverridingClassLoader;
import org.springframework.core.PriorityOrdered;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.AsyncAnnotationBeanPostProcessor;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.config.TaskManagementConfigUtils;
import org.springframework.util.SerializationUtils;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockContext;
import io.distributedlock.LockError;
import io.distributedlock.LockOperations;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.autoconfigure.DistributedLockAutoConfiguration;
import io.distributedlock.interceptor.RecordingLockOperations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

class LockedBeanVerifierTests {

	private final RecordingLockOperations operations = new RecordingLockOperations();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
		.withBean(LockOperations.class, () -> this.operations);

	@Test
	void productWhoseTargetLacksTheInterfaceIsLocked() {
		product(() -> byInterface(new Unrelated())).run((context) -> {
			context.getBean(Task.class).run();
			assertThat(this.operations.keys()).containsExactly("Task.run");
		});
	}

	@Test
	void classProxyWhoseTargetLacksTheInterfaceIsLocked() {
		this.runner.withBean(Task.class, () -> byClass(new Unrelated())).run((context) -> {
			context.getBean(Task.class).run();
			assertThat(this.operations.keys()).containsExactly("Task.run");
		});
	}

	@Test
	void targetsAnnotationPrevailsOverTheOneOfItsInterface() {
		product(() -> byInterface(new NamedTask())).run((context) -> {
			context.getBean(Task.class).run();
			assertThat(this.operations.keys()).containsExactly("named");
		});
	}

	@Test
	void serializedProxyTakesItsLock() {
		this.runner.withPropertyValues("spring.aop.proxy-target-class=false")
			.withBean(SerializableTask.class)
			.run((context) -> {
				Task copy = SerializationUtils.clone((Serializable & Task) context.getBean(Task.class));
				copy.run();
				assertThat(this.operations.keys()).containsExactly("Task.run");
			});
	}

	@Test
	void inheritedImplementationOfAGenericInterfaceIsLockedBehindAnInterfaceProxy() {
		this.runner.withPropertyValues("spring.aop.proxy-target-class=false")
			.withBean(OrderHandler.class)
			.run((context) -> {
				@SuppressWarnings("unchecked")
				Handler<Integer> handler = context.getBean(Handler.class);
				handler.handle(7);
				assertThat(this.operations.keys()).containsExactly("AbstractHandler.handle:7");
			});
	}

	@Test
	void annotatedGenericInterfaceLocksAnInheritedImplementation() {
		this.runner.withPropertyValues("spring.aop.proxy-target-class=false")
			.withBean(LockedOrderHandler.class)
			.run((context) -> {
				@SuppressWarnings("unchecked")
				LockedHandler<Integer> handler = context.getBean(LockedHandler.class);
				handler.handle(7);
				assertThat(this.operations.keys()).containsExactly("LockedHandler.handle:7");
			});
	}

	@Test
	void annotationThatTheAdvisorCannotSeeIsRefused() {
		this.runner.withBean(FactoryOf.class, () -> new FactoryOf<>(Runnable.class, LockedBeanVerifierTests::hidden))
			.run((context) -> assertThat(error(catchThrowable(() -> context.getBean(Runnable.class))))
				.isEqualTo(LockError.NOT_ADVISED));
	}

	@Test
	void introducedMethodThatTheAdvisorCannotSeeFailsTheStart() {
		this.runner
			.withBean("introduction", TaskIntroduction.class, TaskIntroduction::new,
					(definition) -> definition.setRole(BeanDefinition.ROLE_INFRASTRUCTURE))
			.withBean(Partly.class)
			.run((context) -> assertThat(error(context.getStartupFailure())).isEqualTo(LockError.NOT_ADVISED));
	}

	@Test
	void productThatWasMadeTooEarlyIsNamed() {
		this.runner.withUserConfiguration(EarlyProduct.class).run((context) -> {
			assertThat(error(context.getStartupFailure())).isEqualTo(LockError.NOT_ADVISED);
			assertThat(context.getStartupFailure()).hasStackTraceContaining("'earlyProduct'");
		});
	}

	@Test
	void objectInPlaceOfABeanFailsTheStartOutsideTests() {
		ApplicationContextRunner replaced = this.runner.withBean(Replacement.class)
			.withBean("task", AnnotatedRunnable.class);
		replaced.run((context) -> assertThat(error(context.getStartupFailure())).isEqualTo(LockError.NOT_ADVISED));
		replaced
			.withBean("org.springframework.test.context.bean.override.internalBeanOverridePostProcessor", Object.class)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@ValueSource(classes = { InitMethod.class, DestroyMethod.class, InferredClose.class, InferredShutdown.class,
			ScannedClose.class })
	void methodThatTheDefinitionNamesFailsTheStart(Class<?> configuration) {
		this.runner.withUserConfiguration(configuration)
			.run((context) -> assertThat(error(context.getStartupFailure())).isEqualTo(LockError.LIFECYCLE_METHOD));
	}

	@Test
	void methodThatTheContainerDoesNotCallMayHaveAnyName() {
		this.runner.withUserConfiguration(NotInferred.class).run((context) -> {
			context.getBean(Pool.class).close();
			assertThat(this.operations.keys()).containsExactly("Pool.close");
		});
	}

	@Test
	void asynchronousMethodHoldsTheLockOnItsOwnThread() {
		this.runner.withUserConfiguration(Asynchronous.class).run((context) -> {
			AsyncTask task = context.getBean(AsyncTask.class);
			assertThat(task.locked().get(30, TimeUnit.SECONDS)).isTrue();
			assertThat(this.operations.keys()).containsExactly("AsyncTask.locked");
		});
	}

	@Test
	void asynchronousFutureThatIsNotDoneIsRefused() {
		this.runner.withUserConfiguration(Asynchronous.class).run((context) -> {
			AsyncTask task = context.getBean(AsyncTask.class);
			assertThat(error(catchThrowable(() -> task.undone().get(30, TimeUnit.SECONDS))))
				.isEqualTo(LockError.UNSUPPORTED_RESULT);
		});
	}

	@ParameterizedTest
	@ValueSource(classes = { EarlyAsynchronous.class, WovenAsynchronous.class })
	void taskThatIsSubmittedInsideTheLockFailsTheStart(Class<?> configuration) {
		this.runner.withUserConfiguration(configuration)
			.run((context) -> assertThat(error(context.getStartupFailure())).isEqualTo(LockError.ASYNC_INSIDE_LOCK));
	}

	@Test
	void classWithAMissingOptionalTypeDoesNotFailTheStart() throws Exception {
		Object bean = withoutOptionalType(Optionally.class);
		registered(bean).run((context) -> assertThat(context).hasNotFailed());
		this.runner.withBean(FactoryOf.class, () -> new FactoryOf<>(Object.class, () -> bean)).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(context.getBean(FactoryOf.class)).isNotNull();
			assertThat(context.getBeansOfType(Object.class)).containsValue(bean);
		});
	}

	@ParameterizedTest
	@ValueSource(classes = { LockedOptionally.class, MetaLockedOptionally.class, TypeLockedOptionally.class,
			InheritedOptionally.class })
	void lockedClassWithAMissingTypeFailsTheStart(Class<?> type) throws Exception {
		registered(withoutOptionalType(type))
			.run((context) -> assertThat(context.getStartupFailure()).hasStackTraceContaining("NoClassDefFoundError"));
	}

	private ApplicationContextRunner registered(Object bean) {
		return this.runner.withInitializer((context) -> context.getBeanFactory().registerSingleton("registered", bean));
	}

	private static Object withoutOptionalType(Class<?> type) throws Exception {
		ClassLoader loader = new OverridingClassLoader(type.getClassLoader()) {

			@Override
			protected boolean isEligibleForOverriding(String className) {
				return className.equals(type.getName());
			}

			@Override
			public Class<?> loadClass(String name) throws ClassNotFoundException {
				if (name.equals(OptionalType.class.getName())) {
					throw new ClassNotFoundException(name);
				}
				return super.loadClass(name);
			}

		};
		Constructor<?> constructor = loader.loadClass(type.getName()).getDeclaredConstructor();
		constructor.setAccessible(true);
		return constructor.newInstance();
	}

	private ApplicationContextRunner product(Supplier<Task> product) {
		return this.runner.withBean(FactoryOf.class, () -> new FactoryOf<>(Task.class, product));
	}

	private static LockError error(Throwable failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause instanceof LockConfigurationException ex) {
				return ex.error();
			}
		}
		throw new AssertionError("No LockConfigurationException", failure);
	}

	/** As Spring Data does it: an interceptor implements what the target does not. */
	private static Task byInterface(Object target) {
		ProxyFactory factory = new ProxyFactory();
		factory.setInterfaces(Task.class);
		factory.setTarget(target);
		factory.addAdvice((MethodInterceptor) (invocation) -> null);
		return (Task) factory.getProxy();
	}

	private static Task byClass(Object target) {
		ProxyFactory factory = new ProxyFactory(target);
		factory.setProxyTargetClass(true);
		factory.addInterface(Task.class);
		factory.addAdvice((MethodInterceptor) (invocation) -> null);
		return (Task) factory.getProxy();
	}

	private static Runnable hidden() {
		return ProxyFactory.getProxy(Runnable.class, new SingletonTargetSource(new AnnotatedRunnable()));
	}

	interface Task {

		@DistributedLock
		void run();

	}

	static class Unrelated {

	}

	static class NamedTask implements Task {

		@Override
		@DistributedLock(name = "named")
		public void run() {
		}

	}

	static class AnnotatedRunnable implements Runnable {

		@Override
		@DistributedLock
		public void run() {
		}

	}

	static class Partly {

		void plain() {
		}

	}

	static class TaskIntroduction extends DefaultIntroductionAdvisor {

		TaskIntroduction() {
			super(new DelegatingIntroductionInterceptor(new NamedTask()));
			addInterface(Task.class);
		}

		@Override
		public boolean matches(Class<?> type) {
			return type == Partly.class;
		}

	}

	/** The type that the class loader of a test lacks. */
	static class OptionalType {

	}

	static class Optionally {

		@Nullable OptionalType optional() {
			return null;
		}

	}

	static class LockedOptionally {

		@Nullable OptionalType optional() {
			return null;
		}

		@DistributedLock
		void run() {
		}

	}

	@Retention(RetentionPolicy.RUNTIME)
	@DistributedLock
	@interface RunOnce {

	}

	static class MetaLockedOptionally {

		@Nullable OptionalType optional() {
			return null;
		}

		@RunOnce
		void run() {
		}

	}

	@DistributedLock
	static class TypeLockedOptionally {

		@Nullable OptionalType optional() {
			return null;
		}

	}

	public interface PublicTask {

		@DistributedLock
		void run();

	}

	static class InheritedOptionally implements PublicTask {

		@Nullable OptionalType optional() {
			return null;
		}

		@Override
		public void run() {
		}

	}

	static class FactoryOf<T> implements FactoryBean<T> {

		private final Class<T> type;

		private final Supplier<T> product;

		FactoryOf(Class<T> type, Supplier<T> product) {
			this.type = type;
			this.product = product;
		}

		@Override
		public T getObject() {
			return this.product.get();
		}

		@Override
		public Class<T> getObjectType() {
			return this.type;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class EarlyProduct {

		@Bean
		static FactoryOf<Task> earlyProduct() {
			return new FactoryOf<>(Task.class, () -> byInterface(new Unrelated()));
		}

		@Bean
		static EarlyPostProcessor dragging(BeanFactory beanFactory) {
			beanFactory.getBean("earlyProduct");
			return new EarlyPostProcessor();
		}

	}

	static class EarlyPostProcessor implements BeanPostProcessor, PriorityOrdered {

		@Override
		public int getOrder() {
			return 0;
		}

	}

	static class Pool {

		@DistributedLock
		public void open() {
		}

		@DistributedLock
		public void close() {
		}

	}

	static class Worker {

		@DistributedLock
		public void shutdown() {
		}

	}

	static class Closing implements AutoCloseable {

		@Override
		@DistributedLock
		public void close() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class InitMethod {

		@Bean(initMethod = "open", destroyMethod = "")
		Pool pool() {
			return new Pool();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class DestroyMethod {

		@Bean(destroyMethod = "open")
		Pool pool() {
			return new Pool();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class InferredClose {

		@Bean
		Pool pool() {
			return new Pool();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class NotInferred {

		@Bean(destroyMethod = "")
		Pool pool() {
			return new Pool();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class InferredShutdown {

		@Bean
		Worker pool() {
			return new Worker();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import(Closing.class)
	static class ScannedClose {

	}

	static class AsyncTask {

		@Async
		@DistributedLock
		public CompletableFuture<Boolean> locked() {
			return CompletableFuture.completedFuture(LockContext.find().isPresent());
		}

		@Async
		@DistributedLock
		public Future<Boolean> undone() {
			return new CompletableFuture<>();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync
	@Import(AsyncTask.class)
	static class Asynchronous {

	}

	/** A proxy of its own, made before the one with the lock, and so inside that. */
	@Configuration(proxyBeanMethods = false)
	@Import(AsyncTask.class)
	static class EarlyAsynchronous {

		@Bean
		static AsyncAnnotationBeanPostProcessor asyncProcessor() {
			AsyncAnnotationBeanPostProcessor processor = new EarlyAsyncProcessor();
			processor.setProxyTargetClass(true);
			return processor;
		}

	}

	static class EarlyAsyncProcessor extends AsyncAnnotationBeanPostProcessor implements PriorityOrdered {

	}

	/** What {@code AdviceMode.ASPECTJ} registers, without AspectJ. */
	@Configuration(proxyBeanMethods = false)
	@Import(AsyncTask.class)
	static class WovenAsynchronous {

		@Bean(TaskManagementConfigUtils.ASYNC_EXECUTION_ASPECT_BEAN_NAME)
		Object aspect() {
			return new Object();
		}

	}

	interface Handler<T> {

		void handle(T value);

	}

	static class AbstractHandler {

		@DistributedLock("#value")
		public void handle(Integer value) {
		}

	}

	static class OrderHandler extends AbstractHandler implements Handler<Integer> {

	}

	interface LockedHandler<T> {

		@DistributedLock("#value")
		void handle(T value);

	}

	static class PlainHandler {

		public void handle(Integer value) {
		}

	}

	static class LockedOrderHandler extends PlainHandler implements LockedHandler<Integer> {

	}

	static class SerializableTask implements Task, Serializable {

		private static final long serialVersionUID = 1L;

		@Override
		public void run() {
		}

	}

	/** Registers an object before the container creates the bean. */
	static class Replacement implements BeanFactoryAware {

		@Override
		public void setBeanFactory(BeanFactory beanFactory) {
			((ConfigurableBeanFactory) beanFactory).registerSingleton("task", new AnnotatedRunnable());
		}

	}

}
