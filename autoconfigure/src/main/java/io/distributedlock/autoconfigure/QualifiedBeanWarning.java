package io.distributedlock.autoconfigure;

import java.lang.annotation.Annotation;
import java.util.List;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.core.env.Environment;

/**
 * Warning of a bean for locks that replaces the one that the application has configured:
 * Spring Boot creates none beside it, so that the application uses the locks' too.
 */
public final class QualifiedBeanWarning {

	private static final Log logger = LogFactory.getLog(QualifiedBeanWarning.class);

	private QualifiedBeanWarning() {
	}

	/**
	 * Warns if the application gets the bean of the locks although properties describe
	 * another one.
	 * @param own the bean of the locks
	 * @param injected the bean that the application gets, or {@code null} if that is not
	 * clear
	 * @param type the type of both
	 * @param qualifier the qualifier of the bean of the locks
	 * @param properties the properties of which each describes the other bean
	 */
	public static void logIfInjected(Object own, @Nullable Object injected, Class<?> type,
			Class<? extends Annotation> qualifier, Environment environment, List<String> properties) {
		String property = properties.stream().filter(environment::containsProperty).findFirst().orElse(null);
		if (own == injected && property != null) {
			logger.warn("The " + type.getSimpleName() + " bean with @" + qualifier.getSimpleName()
					+ " is the only one, so that the application uses it too, and " + property
					+ " has no effect: declare it with @Bean(defaultCandidate = false)");
		}
	}

}
