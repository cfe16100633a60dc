package io.distributedlock.autoconfigure.jdbc;

import java.util.function.Supplier;

import javax.sql.DataSource;

import org.springframework.beans.factory.InitializingBean;
import org.springframework.core.io.ResourceLoader;

import io.distributedlock.autoconfigure.LockStorePreparation;

/**
 * Creates the lock table in its callback. Spring Boot would run an initializer that is a
 * bean itself before all other beans of the database, also in an application without
 * locks.
 */
final class JdbcLockSchema implements LockStorePreparation, InitializingBean {

	private final Supplier<DataSource> database;

	private final JdbcLockProperties properties;

	private final ResourceLoader resources;

	JdbcLockSchema(Supplier<DataSource> database, JdbcLockProperties properties, ResourceLoader resources) {
		this.database = database;
		this.properties = properties;
		this.resources = resources;
	}

	@Override
	public void afterPropertiesSet() {
		JdbcLockSchemaInitializer initializer = new JdbcLockSchemaInitializer(this.database.get(), this.properties);
		initializer.setResourceLoader(this.resources);
		initializer.initializeDatabase();
	}

}
