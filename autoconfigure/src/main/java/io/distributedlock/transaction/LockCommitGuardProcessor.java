package io.distributedlock.transaction;

import java.time.Duration;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.scope.ScopedObject;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.ReactiveTransactionManager;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionManager;
import org.springframework.util.function.SingletonSupplier;

/**
 * Adds the {@link LockCommitGuard} to every transaction manager of a context: to each
 * when it is created, and to those that were created before this processor when all
 * singletons are ready. A transaction manager that cannot be guarded is named in a
 * warning. Creates no bean and no product of a {@link FactoryBean} itself. As a part of
 * Spring AOP it is not proxied, so that no advisor is created before all post-processors
 * are there.
 *
 * @since 0.1.0
 */
public final class LockCommitGuardProcessor
		implements BeanPostProcessor, SmartInitializingSingleton, AopInfrastructureBean {

	private static final Log logger = LogFactory.getLog(LockCommitGuardProcessor.class);

	private static final String WRAPPER = ", unless the transaction manager that it wraps is a bean of its own, which"
			+ " is guarded. If not, let it implement ConfigurableTransactionManager and pass addListener on to"
			+ " the transaction manager that it wraps, or define the wrapped one as a bean of its own";

	private static final String REACTIVE = ". A reactive transaction is committed on threads that do not run under the"
			+ " lock: protect the resource with the fencing token";

	private final LockCommitGuard guard;

	private final ConfigurableListableBeanFactory beanFactory;

	/** Names of the beans that were guarded before something may have wrapped them. */
	private final Set<String> guarded = ConcurrentHashMap.newKeySet();

	/** Names of the beans of which the application was warned. */
	private final Set<String> warned = ConcurrentHashMap.newKeySet();

	/**
	 * Creates a processor.
	 * @param beanFactory the factory whose transaction managers are guarded
	 * @param margin supplies what has to be left of each lock's lease at a commit; called
	 * once, at the first commit, so that no bean is created early
	 */
	public LockCommitGuardProcessor(ConfigurableListableBeanFactory beanFactory, Supplier<Duration> margin) {
		this.beanFactory = beanFactory;
		this.guard = new LockCommitGuard(SingletonSupplier.of(margin));
	}

	@Override
	public Object postProcessBeforeInitialization(Object bean, String beanName) {
		if (bean instanceof ConfigurableTransactionManager manager) {
			guard(manager, beanName);
		}
		return bean;
	}

	/**
	 * Sees the products of factory beans too, which are never initialized here. The
	 * target of a scoped proxy is a bean of its own.
	 */
	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		guardOrWarn(bean, beanName);
		return bean;
	}

	@Override
	public void afterSingletonsInstantiated() {
		for (String beanName : this.beanFactory.getSingletonNames()) {
			Object bean = this.beanFactory.getSingleton(beanName);
			if (bean instanceof FactoryBean<?> && hasTransactionManager(beanName)) {
				bean = this.beanFactory.getBean(beanName);
			}
			if (bean != null) {
				guardOrWarn(bean, beanName);
			}
		}
	}

	/**
	 * Returns whether a factory bean has created a transaction manager for another bean.
	 * This processor saw that product, unless the product is older than the processor.
	 */
	private boolean hasTransactionManager(String beanName) {
		return this.beanFactory.isTypeMatch(beanName, TransactionManager.class)
				&& this.beanFactory.isSingleton(beanName) && Stream.of(this.beanFactory.getDependentBeans(beanName))
					.anyMatch(this.beanFactory::containsSingleton);
	}

	private void guardOrWarn(Object bean, String beanName) {
		if (!(bean instanceof TransactionManager) || bean instanceof ScopedObject) {
			return;
		}
		boolean guardedTarget = AopUtils.isAopProxy(bean) && this.guarded.contains(beanName);
		if (bean instanceof ConfigurableTransactionManager manager && !guardedTarget) {
			guard(manager, beanName);
		}
		if (bean instanceof ReactiveTransactionManager) {
			warn(bean, beanName, REACTIVE);
		}
		else if (!this.guarded.contains(beanName)) {
			warn(bean, beanName, WRAPPER);
		}
	}

	/** Leaves out a class proxy whose final methods read its own, empty, fields. */
	private void guard(ConfigurableTransactionManager manager, String beanName) {
		Collection<TransactionExecutionListener> listeners = manager.getTransactionExecutionListeners();
		if (listeners != null) {
			if (!listeners.contains(this.guard)) {
				manager.addListener(this.guard);
			}
			this.guarded.add(beanName);
		}
	}

	private void warn(Object bean, String beanName, String addition) {
		if (this.warned.add(beanName)) {
			logger.warn("The transaction manager '" + beanName + "' (" + bean.getClass().getName()
					+ ") is not guarded itself: transactions that commit through it commit under a lost lock too"
					+ addition);
		}
	}

}
