package io.distributedlock.mistakes;

import java.lang.reflect.Constructor;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.BeanUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanDefinitionHolder;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.data.keyvalue.core.KeyValueTemplate;
import org.springframework.data.keyvalue.repository.query.CachingKeyValuePartTreeQuery;
import org.springframework.data.keyvalue.repository.query.SpelQueryCreator;
import org.springframework.data.keyvalue.repository.support.KeyValueRepositoryFactoryBean;
import org.springframework.data.map.MapKeyValueAdapter;
import org.springframework.util.ClassUtils;

/** How a bean with a mistake is made and reached. */
enum Shape {

	CLASS_PROXY, INTERFACE_PROXY, FACTORY_BEAN, REPOSITORY, LAZY, PROTOTYPE, SCOPED_PROXY;

	/** The name of the bean. */
	static final String BEAN = "subject";

	boolean isClassProxy() {
		return this != INTERFACE_PROXY;
	}

	/** Whether the bean is made when the application starts. */
	boolean isMadeAtStart() {
		return this == CLASS_PROXY || this == INTERFACE_PROXY;
	}

	/**
	 * Returns the type with a mistake.
	 * @param mistake the name of the mistake
	 * @return a class, or an interface of a repository; {@code null} if the mistake
	 * cannot be made there
	 */
	@Nullable Class<?> type(String mistake) {
		Class<?> outer = (this == REPOSITORY) ? RepositoryMistakes.class : BeanMistakes.class;
		String name = outer.getName() + "$" + mistake;
		return ClassUtils.isPresent(name, null) ? ClassUtils.resolveClassName(name, null) : null;
	}

	void register(BeanDefinitionRegistry registry, Class<?> type, boolean withProperty) {
		RootBeanDefinition definition = definition(type);
		if (withProperty) {
			definition.getPropertyValues().add("limit", 3);
		}
		BeanDefinition registered = definition;
		if (this == SCOPED_PROXY) {
			registered = ScopedProxyUtils.createScopedProxy(new BeanDefinitionHolder(definition, BEAN), registry, true)
				.getBeanDefinition();
		}
		registry.registerBeanDefinition(BEAN, registered);
	}

	private RootBeanDefinition definition(Class<?> type) {
		return switch (this) {
			case FACTORY_BEAN -> {
				RootBeanDefinition factory = new RootBeanDefinition(TaskFactory.class);
				factory.getConstructorArgumentValues().addGenericArgumentValue(type);
				yield factory;
			}
			case REPOSITORY -> {
				RootBeanDefinition factory = new RootBeanDefinition(KeyValueRepositoryFactoryBean.class);
				factory.getConstructorArgumentValues().addGenericArgumentValue(type);
				factory.getPropertyValues()
					.add("keyValueOperations", new KeyValueTemplate(new MapKeyValueAdapter()))
					.add("queryCreator", SpelQueryCreator.class)
					.add("queryType", CachingKeyValuePartTreeQuery.class);
				yield factory;
			}
			case CLASS_PROXY, INTERFACE_PROXY -> new RootBeanDefinition(type);
			case LAZY -> {
				RootBeanDefinition lazy = new RootBeanDefinition(type);
				lazy.setLazyInit(true);
				yield lazy;
			}
			case PROTOTYPE, SCOPED_PROXY -> {
				RootBeanDefinition prototype = new RootBeanDefinition(type);
				prototype.setScope(BeanDefinition.SCOPE_PROTOTYPE);
				yield prototype;
			}
		};
	}

	/** Factory of a task, whose class the container learns from the product alone. */
	static final class TaskFactory implements FactoryBean<Task> {

		private final Class<?> type;

		TaskFactory(Class<?> type) {
			this.type = type;
		}

		@Override
		public Task getObject() throws Exception {
			Constructor<?> constructor = this.type.getDeclaredConstructor();
			return (Task) BeanUtils.instantiateClass(constructor);
		}

		@Override
		public Class<?> getObjectType() {
			return Task.class;
		}

	}

}
