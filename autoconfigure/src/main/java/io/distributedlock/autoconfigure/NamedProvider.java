package io.distributedlock.autoconfigure;

import org.jspecify.annotations.Nullable;

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

	public NamedProvider {
		name = StringUtils.hasText(name) ? name.trim() : null;
	}

	/**
	 * Reads the property, in every spelling that Spring Boot has prepared its environment
	 * for. Several conditions ask for it at each start, and binding would take most of
	 * their time.
	 * @param environment the environment
	 */
	static NamedProvider of(Environment environment) {
		return new NamedProvider(environment.getProperty(PROPERTY));
	}

	boolean is(String provider) {
		return provider.equalsIgnoreCase(this.name);
	}

}
