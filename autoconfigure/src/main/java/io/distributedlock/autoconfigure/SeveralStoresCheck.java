package io.distributedlock.autoconfigure;

import java.util.ArrayList;
import java.util.List;

import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.Environment;

import io.distributedlock.provider.LockProvider;
import io.distributedlock.support.LockTemplate;

/**
 * Check that it is clear which store keeps the locks, before any bean is created: a start
 * that fails for that reason has opened no connection and created no table. Leaves
 * everything that depends on beans of the application to {@link SelectedLockProvider}.
 */
final class SeveralStoresCheck implements BeanFactoryPostProcessor {

	private final NamedProviders named;

	SeveralStoresCheck(Environment environment) {
		this.named = NamedProviders.of(environment);
	}

	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
		if (this.named.primary() == null && choosesAmongStores(beanFactory)) {
			List<String> stores = new ArrayList<>();
			for (String provider : beanFactory.getBeanNamesForType(LockProvider.class, true, false)) {
				if (!LockProviderBeans.isOwn(provider)) {
					return;
				}
				String store = LockProviderBeans.qualifier(provider);
				if (!this.named.hasAdditional(store) && !this.named.hasAdditional(provider)) {
					stores.add(store);
				}
			}
			if (stores.size() > 1) {
				throw SelectedLockProvider.several(stores);
			}
		}
	}

	/** A mock in place of the locks needs no store. */
	private static boolean choosesAmongStores(ConfigurableListableBeanFactory beanFactory) {
		return beanFactory.isTypeMatch(LockProviderBeans.TEMPLATE, LockTemplate.class)
				&& beanFactory.getBeanNamesForType(SelectedLockProvider.class, true, false).length == 1
				&& beanFactory.containsBeanDefinition("distributedLockSelectedProvider");
	}

}
