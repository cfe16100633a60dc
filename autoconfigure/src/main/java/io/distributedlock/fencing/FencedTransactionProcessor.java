package io.distributedlock.fencing;

import java.util.Collection;
import java.util.Set;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.support.ResourceTransactionManager;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.engine.EnclosingTransaction;

/**
 * Lets every transaction manager of a context fence its transactions: each when it is
 * created, and those that were created before this processor when all singletons are
 * ready. Then it checks that the databases have the table. Refuses JTA, and an
 * {@link EnclosingTransaction} that does not fence. As a part of Spring AOP it is not
 * proxied, so that no advisor is created before all post-processors are there.
 *
 * @since 0.1.0
 */
public final class FencedTransactionProcessor
		implements BeanPostProcessor, SmartInitializingSingleton, AopInfrastructureBean {

	private static final Log logger = LogFactory.getLog(FencedTransactionProcessor.class);

	private static final String JTA = "org.springframework.transaction.jta.JtaTransactionManager";

	/** Managers of persistence contexts, each with a connection of a database. */
	private static final Set<String> PERSISTENCE = Set.of("org.springframework.orm.jpa.JpaTransactionManager",
			"org.springframework.orm.jpa.hibernate.HibernateTransactionManager");

	private static final String OPEN_IN_VIEW = "openEntityManagerInViewInterceptor";

	private final ConfigurableListableBeanFactory beanFactory;

	private final Supplier<FencedTransactions> fences;

	/**
	 * Creates a processor.
	 * @param beanFactory the factory whose transaction managers fence
	 * @param fences supplies the fences, so that no bean is created early
	 */
	public FencedTransactionProcessor(ConfigurableListableBeanFactory beanFactory,
			Supplier<FencedTransactions> fences) {
		this.beanFactory = beanFactory;
		this.fences = fences;
	}

	@Override
	public Object postProcessBeforeInitialization(Object bean, String beanName) {
		fence(bean, beanName);
		return bean;
	}

	/** Sees the products of factory beans too, which are never initialized here. */
	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (!AopUtils.isAopProxy(bean)) {
			fence(bean, beanName);
		}
		return bean;
	}

	@Override
	public void afterSingletonsInstantiated() {
		requireFencedLocks();
		boolean persistence = false;
		for (String beanName : this.beanFactory.getBeanNamesForType(TransactionManager.class, true, false)) {
			Object bean = this.beanFactory.containsSingleton(beanName) ? this.beanFactory.getBean(beanName) : null;
			if (bean == null) {
				continue;
			}
			if (!fence(bean, beanName)) {
				warnOfUnfenced(beanName, bean, "unless it wraps another one that is a bean of its own");
			}
			DataSource database = database(bean);
			if (database != null) {
				this.fences.get().check(database, "transaction manager '" + beanName + "'");
			}
			persistence |= isKindOf(bean, PERSISTENCE);
		}
		if (persistence) {
			checkPersistence();
		}
		warnOfParents();
	}

	/**
	 * A manager of a parent context would outlive the fences of this one. A parent that
	 * fences has a processor of its own, which has warned of what is above it.
	 */
	private void warnOfParents() {
		BeanFactory above = this.beanFactory.getParentBeanFactory();
		while (above instanceof ConfigurableListableBeanFactory parent
				&& parent.getBeanNamesForType(FencedTransactionProcessor.class, true, false).length == 0) {
			for (String beanName : parent.getBeanNamesForType(TransactionManager.class, true, false)) {
				if (parent.containsSingleton(beanName) && !this.beanFactory.containsLocalBean(beanName)) {
					warnOfUnfenced(beanName, parent.getBean(beanName),
							"because it is a bean of a parent context that does not fence them");
				}
			}
			above = parent.getParentBeanFactory();
		}
	}

	private static void warnOfUnfenced(String beanName, Object bean, String why) {
		logger.warn("Transactions of the transaction manager '" + beanName + "' (" + bean.getClass().getName()
				+ ") are not fenced (distributed-lock.fencing.enabled), " + why);
	}

	/** Refuses a bean that lets locks in a running transaction begin without a fence. */
	private void requireFencedLocks() {
		for (String beanName : this.beanFactory.getBeanNamesForType(EnclosingTransaction.class, true, false)) {
			Class<?> type = AopUtils.getTargetClass(this.beanFactory.getBean(beanName));
			if (type != FencedEnclosingTransaction.class) {
				throw new LockConfigurationException(LockError.FENCE_UNSUPPORTED,
						"The bean '" + beanName + "' (" + type.getName()
								+ ") does not fence the locks that are acquired in a running transaction",
						"Return new FencedEnclosingTransaction(yours, fencedTransactions) from its bean method, or"
								+ " set distributed-lock.fencing.enabled=false");
			}
		}
	}

	/**
	 * Checks the database of persistence contexts, as far as it is clear which that is.
	 */
	private void checkPersistence() {
		DataSource database = this.beanFactory.getBeanProvider(DataSource.class).getIfUnique();
		if (database != null) {
			this.fences.get().check(database, "JPA");
		}
		if (this.beanFactory.containsBean(OPEN_IN_VIEW)) {
			logger.warn("Fenced transactions do not cover what a persistence context has read before them, and"
					+ " spring.jpa.open-in-view keeps one for a whole web request: set it to false");
		}
	}

	/**
	 * Adds the listener to a transaction manager that can have one.
	 * @return {@code false} for a transaction manager that cannot
	 */
	private boolean fence(Object bean, String beanName) {
		if (!(bean instanceof TransactionManager)) {
			return true;
		}
		if (isKindOf(bean, Set.of(JTA))) {
			throw new LockConfigurationException(LockError.FENCE_UNSUPPORTED,
					"The transaction manager '" + beanName + "' (" + bean.getClass().getName()
							+ ") uses JTA, whose transactions cannot be fenced",
					"Set distributed-lock.fencing.enabled=false, and compare the fencing token in the statements that write");
		}
		if (bean instanceof PlatformTransactionManager manager
				&& bean instanceof ConfigurableTransactionManager configurable) {
			Collection<TransactionExecutionListener> listeners = configurable.getTransactionExecutionListeners();
			// A class proxy whose final methods read its own, empty, fields has none.
			if (listeners != null && listeners.stream().noneMatch(FencingListener.class::isInstance)) {
				boolean database = database(manager) != null || isKindOf(manager, PERSISTENCE);
				configurable.addListener(new FencingListener(manager, database, this.fences));
			}
			return listeners != null || AopUtils.isAopProxy(bean);
		}
		return false;
	}

	private static boolean isKindOf(Object manager, Set<String> types) {
		for (Class<?> type = manager.getClass(); type != null; type = type.getSuperclass()) {
			if (types.contains(type.getName())) {
				return true;
			}
		}
		return false;
	}

	private static @Nullable DataSource database(Object manager) {
		try {
			return (manager instanceof ResourceTransactionManager resources
					&& resources.getResourceFactory() instanceof DataSource dataSource) ? dataSource : null;
		}
		catch (IllegalStateException ex) {
			// It is not initialized yet, and is asked again when it is.
			return null;
		}
	}

}
