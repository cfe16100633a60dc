package io.distributedlock.autoconfigure;

import java.util.Map;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurationImportFilter;
import org.springframework.boot.autoconfigure.AutoConfigurationMetadata;
import org.springframework.boot.autoconfigure.condition.ConditionEvaluationReport;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.EnvironmentAware;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.env.Environment;

import io.distributedlock.autoconfigure.ConditionalOnLockStore.OnNamedStoreCondition;

/**
 * Filter that leaves out auto-configurations, of stores and of the fence, that the
 * properties rule out, before their classes are read. The classes have the same
 * conditions, for those who import one directly. The conditions report tells of both
 * alike.
 */
final class LockStoreFilter
		implements AutoConfigurationImportFilter, BeanFactoryAware, EnvironmentAware, PriorityOrdered {

	private static final String PACKAGE = "io.distributedlock.autoconfigure.";

	private static final String QUORUM = PACKAGE + "redis.RedisQuorumLockAutoConfiguration";

	private static final String FENCING = PACKAGE + "fencing.LockFencingAutoConfiguration";

	/** The stores by the names of classes, which are not loaded. */
	private static final Map<String, String> STORES = Map.of(QUORUM, "redis",
			PACKAGE + "redis.RedisLockAutoConfiguration", "redis", PACKAGE + "jdbc.JdbcLockAutoConfiguration", "jdbc",
			PACKAGE + "zookeeper.ZooKeeperLockAutoConfiguration", "zookeeper");

	private @Nullable BeanFactory beanFactory;

	private @Nullable Environment environment;

	@Override
	public void setBeanFactory(BeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	@Override
	public void setEnvironment(Environment environment) {
		this.environment = environment;
	}

	/**
	 * Returns an order before Spring Boot's filters, which load classes of the clients.
	 */
	@Override
	public int getOrder() {
		return Ordered.HIGHEST_PRECEDENCE;
	}

	@Override
	public boolean[] match(@Nullable String[] classes, AutoConfigurationMetadata metadata) {
		boolean[] matches = new boolean[classes.length];
		for (int i = 0; i < classes.length; i++) {
			matches[i] = classes[i] == null || matches(classes[i]);
		}
		return matches;
	}

	/**
	 * Reads properties for our own classes only: Spring Boot asks for each class that any
	 * auto-configuration imports, one by one.
	 */
	private boolean matches(String type) {
		if (type.equals(FENCING)) {
			return matches(type, new OnFenceCondition(), OnFenceCondition.outcome(properties()));
		}
		String store = STORES.get(type);
		if (store == null) {
			return true;
		}
		Environment properties = properties();
		return matches(type, new OnNamedStoreCondition(),
				OnNamedStoreCondition.outcome(store, false, NamedProviders.of(properties)))
				&& (!type.equals(QUORUM)
						|| matches(type, new OnRedisQuorumCondition(), OnRedisQuorumCondition.outcome(properties)));
	}

	private Environment properties() {
		return Objects.requireNonNull(this.environment, "The environment is set first");
	}

	private boolean matches(String type, SpringBootCondition condition, ConditionOutcome outcome) {
		if (!outcome.isMatch() && this.beanFactory instanceof ConfigurableListableBeanFactory present) {
			ConditionEvaluationReport.get(present).recordConditionEvaluation(type, condition, outcome);
		}
		return outcome.isMatch();
	}

}
