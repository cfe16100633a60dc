package io.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationPropertiesBindHandlerAdvisor;
import org.springframework.boot.context.properties.bind.AbstractBindHandler;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.core.env.Environment;

/**
 * The rule that a duration among the properties of locks has a unit. Spring Boot reads a
 * bare number as milliseconds, so that a lease of '30' would last 30 ms. Applies to
 * values of every source, and to no other properties.
 *
 * @param environment the environment that resolves placeholders
 */
record DurationUnits(Environment environment) implements ConfigurationPropertiesBindHandlerAdvisor {

	private static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("distributed-lock");

	private static final Pattern BARE_NUMBER = Pattern.compile("[+-]?\\d+");

	@Override
	public BindHandler apply(BindHandler bindHandler) {
		return new AbstractBindHandler(bindHandler) {

			@Override
			public @Nullable Object onSuccess(ConfigurationPropertyName name, Bindable<?> target, BindContext context,
					Object result) {
				ConfigurationProperty property = context.getConfigurationProperty();
				if (result instanceof Duration && property != null && PREFIX.isAncestorOf(name)) {
					requireUnit(name, property);
				}
				return super.onSuccess(name, target, context, result);
			}

		};
	}

	private void requireUnit(ConfigurationPropertyName name, ConfigurationProperty property) {
		String text = this.environment.resolvePlaceholders(String.valueOf(property.getValue())).trim();
		if (BARE_NUMBER.matcher(text).matches() && !text.equals("0")) {
			throw DistributedLockProperties.invalid(name.toString().substring(PREFIX.toString().length() + 1), text,
					"but a duration needs a unit",
					"Write a number with a unit, such as '" + text + "s' or '" + text + "ms'; only 0 needs none");
		}
	}

}
