package io.distributedlock.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/**
 * The primary provider as the property names it.
 *
 * @param name the name of a provider or of its bean, or {@code null} for the only
 * candidate
 */
public record NamedProvider(@Nullable String name) {

	static final String PROPERTY = "distributed-lock.provider";

	/**
	 * The source of properties that Spring Boot attaches for lookups by uniform names.
	 */
	private static final String PREPARED = "configurationProperties";

	public NamedProvider {
		name = StringUtils.hasText(name) ? name.trim() : null;
	}

	/**
	 * Returns whether the environment finds each form of a property by its uniform name.
	 */
	public static boolean isPrepared(Environment environment) {
		return environment instanceof ConfigurableEnvironment configurable
				&& configurable.getPropertySources().contains(PREPARED);
	}

	/**
	 * Reads the property. Several conditions ask for it at each start, and binding takes
	 * most of their time: so nothing is bound where Spring Boot has prepared the
	 * environment for every spelling of a name.
	 * @param environment the environment
	 */
	static NamedProvider of(Environment environment) {
		if (isPrepared(environment)) {
			try {
				return new NamedProvider(environment.getProperty(PROPERTY));
			}
			catch (IllegalArgumentException ex) {
				// The placeholder of a missing property, which binding leaves as it is.
			}
		}
		return new NamedProvider(Binder.get(environment).bind(PROPERTY, String.class).orElse(null));
	}

	boolean is(String provider) {
		return provider.equalsIgnoreCase(this.name);
	}

}
