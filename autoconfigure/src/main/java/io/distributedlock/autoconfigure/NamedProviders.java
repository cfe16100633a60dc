package io.distributedlock.autoconfigure;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/**
 * The providers that the properties name, with the property of each.
 *
 * @param primary the name of the primary provider, or {@code null} for the only candidate
 * @param additional the names of further providers
 */
record NamedProviders(@Nullable String primary, List<String> additional) {

	static final String PRIMARY = "distributed-lock.provider";

	static final String ADDITIONAL = "distributed-lock.additional-providers";

	static NamedProviders of(Environment environment) {
		Binder binder = Binder.get(environment);
		List<String> additional = binder.bind(ADDITIONAL, Bindable.listOf(String.class)).orElse(null);
		return of(binder.bind(PRIMARY, String.class).orElse(null), (additional != null) ? additional : List.of());
	}

	static NamedProviders of(@Nullable String primary, List<String> additional) {
		return new NamedProviders(StringUtils.hasText(primary) ? primary.trim() : null,
				additional.stream().filter(StringUtils::hasText).map(String::trim).toList());
	}

	boolean contains(String name) {
		return name.equalsIgnoreCase(this.primary) || hasAdditional(name);
	}

	boolean hasAdditional(String name) {
		return this.additional.stream().anyMatch(name::equalsIgnoreCase);
	}

}
