package io.distributedlock.autoconfigure;

import java.lang.reflect.Method;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.aop.framework.ProxyFactoryBean;
import org.springframework.aop.framework.autoproxy.DefaultAdvisorAutoProxyCreator;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.support.BeanDefinitionBuilder;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.ApplicationEventMulticaster;
import org.springframework.context.event.SimpleApplicationEventMulticaster;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.context.support.PropertySourcesPlaceholderConfigurer;
import org.springframework.transaction.annotation.EnableTransactionManagement;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockContext;
import io.distributedlock.LockError;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.interceptor.LockAttribute;
import io.distributedlock.interceptor.LockAttributeSource;
import io.distributedlock.local.NoLockProvider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

/** Beans of child contexts, with and without the auto-configuration. */
class ChildContextTests {

	private final ApplicationContextRunner parent = new ApplicationContextRunner().withBean(LockUser.class)
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
		.withPropertyValues("distributed-lock.provider=local");

	@Test
	void childResolvesItsOwnBeansAndProvidersOfItsParent() {
		this.parent.withBean("none", NoLockProvider.class)
			.withBean("shop", Shop.class, () -> new Shop("closed"))
			.run((context) -> this.parent.withParent(context)
				.withPropertyValues("distributed-lock.provider=")
				.withBean("shop", Shop.class, () -> new Shop("open"))
				.withBean(Counter.class)
				.run((child) -> {
					assertThat(child.getBean(Counter.class).sell()).isEqualTo("Counter.sell:open");
					assertThat(child.getBean(Counter.class).sellUnlocked()).isEqualTo("Counter.sellUnlocked:open");
				}));
	}

	@Test
	void beanOfAChildWithoutTheAutoConfigurationFailsItsStart() {
		this.parent.run((context) -> assertUnlocked(context, (child) -> child.registerBean("job", Job.class)));
	}

	@Test
	void childReadsItsAttributesFromASourceOfItsOwn() {
		this.parent.run((context) -> this.parent.withParent(context)
			.withBean("own", OwnAttributes.class)
			.withBean(Plain.class)
			.run((child) -> assertThat(child.getBean(Plain.class).run()).isEqualTo("own")));
	}

	@Test
	void beanThatIsNotCreatedYetFailsTheStartToo() {
		this.parent.run((context) -> {
			assertUnlocked(context, (child) -> child.registerBean("job", Job.class, (bean) -> bean.setLazyInit(true)));
			assertUnlocked(context,
					(child) -> child.registerBean("job", Job.class, (bean) -> bean.setScope("prototype")));
		});
	}

	@Test
	void beanOfAChildFailsTheStartIfItsParentHasNoLocksEither() {
		try (AnnotationConfigApplicationContext slice = new AnnotationConfigApplicationContext()) {
			new LockedBeanInitializer().initialize(slice);
			slice.refresh();
			assertUnlocked(slice, (child) -> child.registerBean("job", Job.class));
			assertUnlocked(slice, (child) -> {
				child.registerBean(DefaultAdvisorAutoProxyCreator.class);
				child.registerBean("job", Job.class, (bean) -> bean.setLazyInit(true));
			});
		}
	}

	@Test
	void productOfAFactoryAndSingletonByHandFailTheStartToo() {
		this.parent.run((context) -> {
			assertUnlocked(context, (child) -> child.registerBean("job", JobFactory.class));
			assertUnlocked(context, (child) -> child.getBeanFactory().registerSingleton("job", new Job()));
		});
	}

	@Test
	void lockedMethodOfAFactoryFailsTheStartToo() {
		this.parent
			.run((context) -> assertUnlocked(context, (child) -> child.registerBean("job", LockedFactory.class)));
	}

	@Test
	void definitionsOfNoBeanNeedNoLock() {
		this.parent.run((context) -> {
			try (GenericApplicationContext child = new GenericApplicationContext(
					context.getSourceApplicationContext())) {
				child.registerBeanDefinition("template",
						BeanDefinitionBuilder.rootBeanDefinition(Job.class).setAbstract(true).getBeanDefinition());
				child.registerBeanDefinition("missing",
						BeanDefinitionBuilder.rootBeanDefinition("shop.Missing").setLazyInit(true).getBeanDefinition());
				child.refresh();
				assertThat(child.isActive()).isTrue();
			}
		});
	}

	@Test
	void productOfAFactoryOfProxiesMayBeLockedByTheAdvisorOfTheParent() {
		this.parent.run((context) -> {
			AnnotationConfigApplicationContext child = child(context,
					(definitions) -> definitions.registerBean("job", ProxyFactoryBean.class, () -> proxies(context)));
			assertThat(child.getBean("job", Job.class).run()).isEqualTo("Job.run");
			child.close();
		});
	}

	private static ProxyFactoryBean proxies(BeanFactory beanFactory) {
		ProxyFactoryBean proxies = new ProxyFactoryBean();
		proxies.setTarget(new Job());
		proxies.setProxyTargetClass(true);
		proxies.setInterceptorNames("distributedLockAdvisor");
		proxies.setBeanFactory(beanFactory);
		return proxies;
	}

	@Test
	void childThatWasClosedMeanwhileIsNotJudged() {
		this.parent.withInitializer((context) -> context.addBeanFactoryPostProcessor((beanFactory) -> {
			AnnotationConfigApplicationContext child = new AnnotationConfigApplicationContext();
			child.setParent(context);
			child.registerBean("job", Job.class, (bean) -> bean.setLazyInit(true));
			child.refresh();
			child.close();
		})).run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void asynchronousEventsFailTheStartAllTheSame() {
		SimpleApplicationEventMulticaster events = new SimpleApplicationEventMulticaster();
		events.setTaskExecutor((task) -> new Thread(task).start());
		this.parent.withBean("applicationEventMulticaster", ApplicationEventMulticaster.class, () -> events)
			.run((context) -> assertUnlocked(context, (child) -> child.registerBean("job", Job.class)));
	}

	@Test
	void nearestContextAloneJudgesAChild() {
		try (AnnotationConfigApplicationContext slice = new AnnotationConfigApplicationContext()) {
			new LockedBeanInitializer().initialize(slice);
			// Does not know the property of the nearest one.
			slice.registerBean(PropertySourcesPlaceholderConfigurer.class);
			slice.refresh();
			this.parent.withParent(slice).withPropertyValues("orders.lock=orders").run((context) -> {
				AnnotationConfigApplicationContext child = child(context, (definitions) -> {
					definitions.registerBean(DefaultAdvisorAutoProxyCreator.class);
					definitions.registerBean("orders", Orders.class);
				});
				assertThat(child.getBean(Orders.class).run()).isEqualTo("orders");
				child.close();
			});
		}
	}

	@Test
	void keyWithABeanOfAChildThatItsParentLocksFailsTheStart() {
		this.parent.withBean("shop", Shop.class, () -> new Shop("closed"))
			.run((context) -> assertThatExceptionOfType(LockConfigurationException.class)
				.isThrownBy(() -> child(context, (definitions) -> {
					definitions.registerBean(DefaultAdvisorAutoProxyCreator.class);
					definitions.registerBean("shop", Shop.class, "open");
					definitions.registerBean("counter", Counter.class);
				}))
				.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.BEAN_OF_CHILD_CONTEXT))
				.withMessageStartingWith(
						"DL-707: A key or condition of the locked bean 'counter' names the bean 'shop' of"
								+ " the child context 'orders'"));
	}

	@Test
	void keyWithABeanOfTheParentIsResolvedThere() {
		this.parent.withBean("shop", Shop.class, () -> new Shop("open")).run((context) -> {
			AnnotationConfigApplicationContext child = child(context, (definitions) -> {
				definitions.registerBean(DefaultAdvisorAutoProxyCreator.class);
				definitions.registerBean("counter", Counter.class);
			});
			assertThat(child.getBean(Counter.class).sell()).isEqualTo("Counter.sell:open");
			child.close();
		});
	}

	@Test
	void proxyCreatorThatLeavesOutTheAdvisorsOfTheParentIsNotEnough() {
		this.parent.run((context) -> assertUnlocked(context, (child) -> {
			child.register(OwnAdvisorsOnly.class);
			child.registerBean("job", Job.class, (bean) -> bean.setLazyInit(true));
		}));
	}

	private static void assertUnlocked(ApplicationContext parent,
			Consumer<AnnotationConfigApplicationContext> definitions) {
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> child(parent, definitions))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NOT_ADVISED))
			.withMessageStartingWith("DL-607: The bean 'job' of the child context 'orders' has locked methods, but that"
					+ " context has no auto-configuration of locks")
			.withMessageContaining("@ImportAutoConfiguration(DistributedLockAutoConfiguration.class)");
	}

	@Test
	void childWithoutLockedBeansNeedsNothing() {
		this.parent.run((context) -> child(context, (child) -> child.registerBean("shop", Shop.class, "open")).close());
	}

	@Test
	void childWithAProxyCreatorOfItsOwnIsLockedByItsParent() {
		this.parent.run((context) -> {
			AnnotationConfigApplicationContext child = child(context, (definitions) -> {
				definitions.registerBean(DefaultAdvisorAutoProxyCreator.class);
				definitions.registerBean("job", Job.class, (bean) -> bean.setLazyInit(true));
			});
			assertThat(child.getBean(Job.class).run()).isEqualTo("Job.run");
			child.close();
		});
	}

	private static AnnotationConfigApplicationContext child(ApplicationContext parent,
			Consumer<AnnotationConfigApplicationContext> definitions) {
		AnnotationConfigApplicationContext child = new AnnotationConfigApplicationContext();
		child.setParent(
				(parent instanceof AssertableApplicationContext run) ? run.getSourceApplicationContext() : parent);
		child.setDisplayName("orders");
		definitions.accept(child);
		Throwable failure = catchThrowable(child::refresh);
		if (failure instanceof RuntimeException ex) {
			assertThat(child.isActive()).isFalse();
			throw ex;
		}
		return child;
	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	static class OwnAdvisorsOnly {

	}

	record Shop(String state) {
	}

	static class Counter {

		@DistributedLock(key = "@shop.state()", condition = "@shop.state() == 'open'", provider = "local")
		String sell() {
			return LockContext.current().keys().get(0).encoded();
		}

		@DistributedLock(key = "@shop.state()", provider = "none")
		String sellUnlocked() {
			return LockContext.current().keys().get(0).encoded();
		}

	}

	static class Orders {

		@DistributedLock(name = "${orders.lock}")
		String run() {
			return LockContext.current().keys().get(0).encoded();
		}

	}

	static class JobFactory implements FactoryBean<Job> {

		@Override
		public Job getObject() {
			return new Job();
		}

		@Override
		public Class<Job> getObjectType() {
			return Job.class;
		}

	}

	static class LockedFactory implements FactoryBean<String> {

		@Override
		@DistributedLock
		public String getObject() {
			return "made";
		}

		@Override
		public Class<String> getObjectType() {
			return String.class;
		}

	}

	static class Job {

		@DistributedLock
		String run() {
			return LockContext.current().keys().get(0).encoded();
		}

	}

	static class Plain {

		String run() {
			return LockContext.current().keys().get(0).encoded();
		}

	}

	static class OwnAttributes implements LockAttributeSource {

		@Override
		public @Nullable LockAttribute getLockAttribute(Method method, Class<?> targetClass) {
			return (targetClass == Plain.class && method.getName().equals("run")) ? LockAttribute.of("own") : null;
		}

		@Override
		public boolean isDeclaredOnMethod(Method method, Class<?> targetClass) {
			return true;
		}

	}

}
