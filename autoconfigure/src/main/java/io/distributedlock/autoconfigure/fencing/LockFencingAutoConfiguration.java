package io.distributedlock.autoconfigure.fencing;

import java.time.Duration;

import javax.sql.DataSource;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.sql.autoconfigure.init.OnDatabaseInitializationCondition;
import org.springframework.boot.sql.init.dependency.DatabaseInitializationDependencyConfigurer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.ConfigurableTransactionManager;

import io.distributedlock.autoconfigure.DistributedLockProperties;
import io.distributedlock.autoconfigure.DistributedLockProperties.Transaction.Release;
import io.distributedlock.autoconfigure.KeyPrefix;
import io.distributedlock.autoconfigure.LockStoreLocation;
import io.distributedlock.autoconfigure.LockTimerConfiguration;
import io.distributedlock.autoconfigure.LockTransactionAutoConfiguration;
import io.distributedlock.autoconfigure.OnFenceCondition;
import io.distributedlock.engine.EnclosingTransaction;
import io.distributedlock.fencing.FenceSettings;
import io.distributedlock.fencing.FenceSweeper;
import io.distributedlock.fencing.FencedEnclosingTransaction;
import io.distributedlock.fencing.FencedTransactionProcessor;
import io.distributedlock.fencing.FencedTransactions;
import io.distributedlock.jdbc.connection.LockDataSource;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.transaction.SpringTransaction;

/**
 * Auto-configuration of fenced transactions, on request: a database refuses the
 * transaction of a holder whose lock has passed to another, whatever store keeps the
 * locks. A child context fences its own transaction managers, with the fences of its
 * parent.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = DataSourceAutoConfiguration.class, before = LockTransactionAutoConfiguration.class)
@ConditionalOnClass({ ConfigurableTransactionManager.class, DataSource.class, ConnectionHolder.class,
		OnDatabaseInitializationCondition.class })
@Conditional(OnFenceCondition.class)
@EnableConfigurationProperties({ DistributedLockProperties.class, FenceProperties.class })
@Import({ LockTimerConfiguration.class, DatabaseInitializationDependencyConfigurer.class })
public final class LockFencingAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
	@ConditionalOnSingleCandidate(DataSource.class)
	@Conditional(OnSchemaInitialization.class)
	FenceSchemaInitializer distributedLockFenceSchemaInitializer(DataSource application, FenceProperties properties) {
		return new FenceSchemaInitializer(LockDataSource.unwrap(application), properties);
	}

	@Bean
	@ConditionalOnMissingBean
	FenceSettings distributedLockFenceSettings(FenceProperties properties, DistributedLockProperties general,
			Environment environment) {
		Duration call = general.callTimeout();
		Duration start = LockStoreLocation.START_TIMEOUT;
		return new FenceSettings(properties.table(), KeyPrefix.text(general, environment), properties.timeout(),
				(call.compareTo(start) > 0) ? call : start);
	}

	@Bean
	@ConditionalOnMissingBean
	FencedTransactions distributedLockFencedTransactions(FenceSettings settings, LockTimer timer) {
		return new FencedTransactions(settings, new FenceSweeper(settings, timer));
	}

	@Bean
	@ConditionalOnMissingBean
	EnclosingTransaction distributedLockEnclosingTransaction(FencedTransactions fences,
			DistributedLockProperties general) {
		if (general.transaction().release() == Release.AT_METHOD_END) {
			throw DistributedLockProperties.invalid("transaction.release", "at-method-end",
					"but distributed-lock.fencing.enabled is for locks that outlast their transaction",
					"Use after-completion, or switch fencing off");
		}
		return new FencedEnclosingTransaction(new SpringTransaction(), fences);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static FencedTransactionProcessor distributedLockFencedTransactionProcessor(
			ConfigurableListableBeanFactory beanFactory, ObjectProvider<FencedTransactions> fences) {
		return new FencedTransactionProcessor(beanFactory, fences::getObject);
	}

	static class OnSchemaInitialization extends OnDatabaseInitializationCondition {

		OnSchemaInitialization() {
			super("Distributed Lock", "distributed-lock.fencing.initialize-schema");
		}

	}

}
