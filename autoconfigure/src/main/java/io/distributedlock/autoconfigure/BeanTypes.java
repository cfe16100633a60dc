package io.distributedlock.autoconfigure;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeansException;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanDefinitionHolder;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;

/**
 * The types of the beans of a factory, each of which is determined once. The conditions
 * of a start look for several types, and as long as definitions may change, the factory
 * determines the types of all beans for each look. For the thread that starts the
 * application.
 */
final class BeanTypes {

	private static final String BEAN_NAME = BeanTypes.class.getName();

	private final ConfigurableListableBeanFactory beanFactory;

	/** The types by definitions: one may be replaced by another one of the same name. */
	private final IdentityHashMap<BeanDefinition, Optional<Class<?>>> known = new IdentityHashMap<>();

	private BeanTypes(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	/** Returns the names of beans of the factory and its ancestors, and creates none. */
	static List<String> names(ConfigurableListableBeanFactory beanFactory, Class<?> type) {
		if (!beanFactory.containsLocalBean(BEAN_NAME)) {
			beanFactory.registerSingleton(BEAN_NAME, new BeanTypes(beanFactory));
		}
		return beanFactory.getBean(BEAN_NAME, BeanTypes.class).names(type);
	}

	private List<String> names(Class<?> type) {
		List<String> names = new ArrayList<>();
		for (String name : this.beanFactory.getBeanDefinitionNames()) {
			if (type(name).filter(type::isAssignableFrom).isPresent()) {
				names.add(name);
			}
		}
		for (String name : this.beanFactory.getSingletonNames()) {
			if (!this.beanFactory.containsBeanDefinition(name) && this.beanFactory.isTypeMatch(name, type)) {
				names.add(name);
			}
		}
		if (this.beanFactory.getParentBeanFactory() instanceof ListableBeanFactory parent) {
			for (String name : BeanFactoryUtils.beanNamesForTypeIncludingAncestors(parent, type, true, false)) {
				if (!this.beanFactory.containsLocalBean(name)) {
					names.add(name);
				}
			}
		}
		return names;
	}

	private Optional<Class<?>> type(String name) {
		return this.known.computeIfAbsent(this.beanFactory.getBeanDefinition(name),
				(definition) -> Optional.ofNullable(isKnownEarly(definition) ? typeOf(name, this.beanFactory) : null));
	}

	/** Rules out what only a factory bean knows, which would be created to be asked. */
	private boolean isKnownEarly(BeanDefinition definition) {
		String factory = definition.getFactoryBeanName();
		return !definition.isAbstract() && (factory == null || !this.beanFactory.containsBean(factory)
				|| !this.beanFactory.isFactoryBean(factory));
	}

	/** Returns the type of a bean, or {@code null} for one that can never be created. */
	static @Nullable Class<?> typeOf(String name, ConfigurableListableBeanFactory beanFactory) {
		try {
			BeanDefinition merged = beanFactory.containsBeanDefinition(name) ? beanFactory.getMergedBeanDefinition(name)
					: null;
			// A scoped proxy has the type of its target, which its factory does not tell.
			BeanDefinitionHolder target = (merged instanceof RootBeanDefinition root) ? root.getDecoratedDefinition()
					: null;
			return beanFactory.getType((target != null) ? target.getBeanName() : name, false);
		}
		catch (BeansException ex) {
			return null;
		}
	}

}
