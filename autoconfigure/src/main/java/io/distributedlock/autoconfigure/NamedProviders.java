package io.distributedlock.autoconfigure;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/**
 * The providers that the properties name, with the property of each.
 *
 * @param primary the name of the primary provider, or {@code null} for the only candidate
 * @param additional the names of further providers
 */
public record NamedProviders(@Nullable String primary, List<String> additional) {

	static final String PRIMARY = "distributed-lock.provider";

	/**
	 * The source of properties that Spring Boot attaches for lookups by uniform names.
	 */
	private static final String PREPARED = "configurationProperties";

	static final String ADDITIONAL = "distributed-lock.additional-providers";

	/**
	 * Returns whether the environment finds each form of a property by its uniform name.
	 */
	public static boolean isPrepared(Environment environment) {
		return environment instanceof ConfigurableEnvironment configurable
				&& configurable.getPropertySources().contains(PREPARED);
	}

	/**
	 * Reads the properties. Several conditions ask for them at each start, and binding
	 * takes most of their time: so nothing is bound where Spring Boot has prepared the
	 * environment for every spelling of a name, and there is no list.
	 * @param environment the environment
	 */
	static NamedProviders of(Environment environment) {
		if (isPrepared(environment) && !environment.containsProperty(ADDITIONAL)
				&& !environment.containsProperty(ADDITIONAL + "[0]")) {
			try {
				return of(environment.getProperty(PRIMARY), List.of());
			}
			catch (IllegalArgumentException ex) {
				// The placeholder of a missing property, which binding leaves as it is.
			}
		}
		Binder binder = Binder.get(environment);
		List<String> additional = binder.bind(ADDITIONAL, Bindable.listOf(String.class)).orElse(null);
		return of(binder.bind(PRIMARY, String.class).orElse(null), (additional != null) ? additional : List.of());
	}

	static NamedProviders of(@Nullable String primary, List<String> additional) {
		List<String> names = new ArrayList<>();
		for (String name : additional) {
			if (StringUtils.hasText(name)) {
				names.add(name.trim());
			}
		}
		return new NamedProviders(StringUtils.hasText(primary) ? primary.trim() : null, List.copyOf(names));
	}

	boolean contains(String name) {
		return name.equalsIgnoreCase(this.primary) || hasAdditional(name);
	}

	boolean hasAdditional(String name) {
		for (String other : this.additional) {
			if (other.equalsIgnoreCase(name)) {
				return true;
			}
		}
		return false;
	}

}
