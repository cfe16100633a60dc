package io.distributedlock.mistakes;

import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.ClassFilter;
import org.springframework.aop.Pointcut;
import org.springframework.aop.support.ComposablePointcut;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.context.logging.LoggingApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.PriorityOrdered;
import org.springframework.scheduling.config.TaskManagementConfigUtils;
import org.springframework.transaction.interceptor.TransactionInterceptor;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.autoconfigure.DistributedLockAutoConfiguration;

/** An application with one bean that has a mistake. */
final class Subject {

	private final Mistake mistake;

	private final Shape shape;

	private final Class<?> type;

	Subject(Mistake mistake, Shape shape, Class<?> type) {
		this.mistake = mistake;
		this.shape = shape;
		this.type = type;
	}

	/** Starts the application, gets the bean and calls it, until one of these fails. */
	Outcome use() {
		Phase phase = Phase.START;
		try (ConfigurableApplicationContext context = start()) {
			phase = Phase.CREATION;
			Task task = context.getBean(Shape.BEAN, Task.class);
			phase = Phase.CALL;
			if (!this.mistake.isOnlySuspected()) {
				task.run(this.mistake.harmlessShapes().contains(this.shape) ? "1" : null);
			}
			return new Outcome(Phase.NONE, null);
		}
		catch (Exception ex) {
			return new Outcome(phase, mistake(ex));
		}
	}

	/** Returns the mistake behind a failure, or the failure if Spring has refused it. */
	private static Exception mistake(Exception ex) {
		for (Throwable cause = ex; cause != null; cause = cause.getCause()) {
			if (cause instanceof LockConfigurationException found) {
				return found;
			}
		}
		return ex;
	}

	private ConfigurableApplicationContext start() {
		SpringApplication application = new SpringApplication(Application.class);
		application.setWebApplicationType(WebApplicationType.NONE);
		application.setLogStartupInfo(false);
		application.setBannerMode(Banner.Mode.OFF);
		application.setRegisterShutdownHook(false);
		application.setListeners(application.getListeners()
			.stream()
			.filter((listener) -> !(listener instanceof LoggingApplicationListener))
			.toList());
		application.setDefaultProperties(Map.of("distributed-lock.provider", "local", "spring.aop.proxy-target-class",
				this.shape.isClassProxy()));
		application.setInitializers(List.of((context) -> register((GenericApplicationContext) context)));
		return application.run();
	}

	private void register(GenericApplicationContext context) {
		this.shape.register(context, this.type, this.mistake == Mistake.PROPERTY_SET);
		switch (this.mistake) {
			case TOO_EARLY ->
				context.registerBean("dragging", Dragging.class, () -> new Dragging(context.getBeanFactory()));
			case ASYNC -> context.registerBeanDefinition(TaskManagementConfigUtils.ASYNC_EXECUTION_ASPECT_BEAN_NAME,
					new RootBeanDefinition(Object.class));
			case TRANSACTED -> context.registerBean("transactions", DefaultPointcutAdvisor.class, Subject::transactions,
					(definition) -> definition.setRole(BeanDefinition.ROLE_INFRASTRUCTURE));
			default -> {
			}
		}
	}

	/** What makes the methods of a task transactional, outside their locks. */
	private static DefaultPointcutAdvisor transactions() {
		Pointcut tasks = new ComposablePointcut((ClassFilter) Task.class::isAssignableFrom);
		DefaultPointcutAdvisor advisor = new DefaultPointcutAdvisor(tasks, new TransactionInterceptor());
		advisor.setOrder(0);
		return advisor;
	}

	/** What failed first. */
	enum Phase {

		START, CREATION, CALL, NONE

	}

	/**
	 * The end of the application.
	 *
	 * @param phase what failed first
	 * @param failure how it failed, or {@code null}
	 */
	record Outcome(Phase phase, @Nullable Exception failure) {
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ AopAutoConfiguration.class, PropertyPlaceholderAutoConfiguration.class,
			DistributedLockAutoConfiguration.class })
	static class Application {

	}

	/** Post-processor that needs the bean before it can be proxied. */
	static final class Dragging implements BeanPostProcessor, PriorityOrdered {

		private final Object early;

		Dragging(BeanFactory beanFactory) {
			this.early = beanFactory.getBean(Shape.BEAN);
		}

		@Override
		public int getOrder() {
			return 0;
		}

	}

}
