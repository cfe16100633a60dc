package io.distributedlock.autoconfigure;

import java.util.List;
import java.util.stream.Stream;

import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

import io.distributedlock.engine.LockTemplate;
import io.distributedlock.provider.LockProvider;

/**
 * Check that it is clear which store keeps the locks and how, before any bean is created:
 * a start that fails for that reason has opened no connection and created no table.
 * Leaves everything that depends on beans of the application to
 * {@link SelectedLockProvider}.
 */
final class StoresCheck implements BeanFactoryPostProcessor {

	private static final boolean JDBC = ClassUtils
		.isPresent("org.springframework.jdbc.datasource.init.DatabasePopulator", StoresCheck.class.getClassLoader());

	private final Environment environment;

	private final NamedProviders named;

	StoresCheck(Environment environment) {
		this.environment = environment;
		this.named = NamedProviders.of(environment);
	}

	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
		List<String> stores = (this.named.primary() == null) ? stores(beanFactory) : List.of();
		if (stores.size() > 1 && choosesAmongStores(beanFactory)) {
			throw SelectedLockProvider.several(stores);
		}
		if (JDBC) {
			new JdbcStrategyCheck(this.environment).check(beanFactory);
		}
	}

	/** Returns the stores that are candidates, found by name so that it costs nothing. */
	private List<String> stores(ConfigurableListableBeanFactory beanFactory) {
		return Stream.of(beanFactory.getBeanDefinitionNames())
			.filter((name) -> LockProviderBeans.isOwn(name) && !this.named.hasAdditional(name)
					&& !this.named.hasAdditional(LockProviderBeans.qualifier(name)))
			.filter((name) -> beanFactory.isTypeMatch(name, LockProvider.class))
			.map(LockProviderBeans::qualifier)
			.toList();
	}

	/**
	 * Returns whether nothing of the application takes part in the choice. A mock in
	 * place of the locks needs no store.
	 */
	private static boolean choosesAmongStores(ConfigurableListableBeanFactory beanFactory) {
		return beanFactory.isTypeMatch(LockProviderBeans.TEMPLATE, LockTemplate.class)
				&& beanFactory.containsBeanDefinition("distributedLockSelectedProvider")
				&& Stream.of(beanFactory.getBeanNamesForType(LockProvider.class, true, false))
					.allMatch(LockProviderBeans::isOwn);
	}

}
