package io.distributedlock.autoconfigure;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.beans.BeanUtils;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.util.ClassUtils;

import io.distributedlock.autoconfigure.fencing.FenceProperties;
import io.distributedlock.autoconfigure.jdbc.JdbcLockProperties;
import io.distributedlock.autoconfigure.redis.RedisLockProperties;
import io.distributedlock.autoconfigure.redis.RedisQuorumProperties;
import io.distributedlock.autoconfigure.zookeeper.ZooKeeperLockProperties;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests of what a developer's IDE and the documentation say of each property: the
 * metadata that is generated from the records, by the rules of Spring Boot.
 */
class ConfigurationMetadataTests {

	private static final String PREFIX = "distributed-lock.";

	private static final Pattern ROW = Pattern.compile("(?m)^\\| `([^`]+)` \\|([^|]*)\\|");

	private static final Set<Class<?>> RECORDS = Set.of(DistributedLockProperties.class, JdbcLockProperties.class,
			RedisLockProperties.class, RedisQuorumProperties.class, ZooKeeperLockProperties.class,
			FenceProperties.class);

	private static Stream<Property> properties() throws IOException {
		return metadata("properties").stream()
			.filter((entry) -> String.valueOf(entry.get("name")).startsWith(PREFIX))
			.map((entry) -> new Property(String.valueOf(entry.get("name")).substring(PREFIX.length()),
					String.valueOf(entry.get("type")), (String) entry.get("description"), entry.get("defaultValue")));
	}

	@SuppressWarnings("unchecked")
	private static List<Map<String, Object>> metadata(String section) throws IOException {
		try (InputStream json = Objects.requireNonNull(DistributedLockAutoConfiguration.class
			.getResourceAsStream("/META-INF/spring-configuration-metadata.json"))) {
			return (List<Map<String, Object>>) JsonParserFactory.getJsonParser()
				.parseMap(new String(json.readAllBytes()))
				.get(section);
		}
	}

	@ParameterizedTest
	@MethodSource("properties")
	void descriptionFollowsTheRulesOfBoot(Property property) {
		assertThat(property.description).as("description of %s", property.name)
			.isNotBlank()
			.matches("[A-Z].*\\.")
			.doesNotMatch("(The|A|An) .*")
			.doesNotContain("\n", "\r", "  ");
		if (property.type.equals("java.lang.Boolean")) {
			assertThat(property.description).matches("(Whether|Enable).*");
		}
		if (property.type.startsWith("java.util.List<java.lang.")) {
			assertThat(property.description).startsWith("Comma-separated list");
		}
	}

	@ParameterizedTest
	@MethodSource("properties")
	void constantsOfAnEnumAreHintsWithADescription(Property property) throws IOException {
		Class<?> type = ClassUtils.isPresent(property.type, null) ? ClassUtils.resolveClassName(property.type, null)
				: Object.class;
		if (type.isEnum()) {
			List<String> constants = Stream.of(type.getEnumConstants())
				.map((constant) -> ((Enum<?>) constant).name().toLowerCase().replace('_', '-'))
				.toList();
			assertThat(hints(property.name)).as(property.name)
				.containsOnlyKeys(constants)
				.allSatisfy((value, description) -> assertThat(description).matches("[A-Z].*\\."));
		}
	}

	@SuppressWarnings("unchecked")
	private static Map<String, String> hints(String property) throws IOException {
		Map<String, String> values = new LinkedHashMap<>();
		metadata("hints").stream()
			.filter((hint) -> hint.get("name").equals(PREFIX + property))
			.flatMap((hint) -> ((List<Map<String, Object>>) hint.get("values")).stream())
			.forEach((value) -> values.put(String.valueOf(value.get("value")),
					String.valueOf(value.get("description"))));
		return values;
	}

	@Test
	void defaultsOfTheRecordsAreInTheMetadata() throws IOException {
		Map<String, String> expected = new TreeMap<>();
		for (Class<?> record : RECORDS) {
			String prefix = record.getAnnotation(ConfigurationProperties.class).value();
			collectDefaults(record, (prefix + ".").substring(PREFIX.length()), expected);
		}
		Map<String, String> actual = new TreeMap<>();
		properties().filter((property) -> expected.containsKey(property.name))
			.forEach((property) -> actual.put(property.name, String.valueOf(property.defaultValue)));
		assertThat(expected).hasSizeGreaterThan(15);
		assertThat(actual).isEqualTo(expected);
	}

	private static void collectDefaults(Class<?> record, String prefix, Map<String, String> defaults) {
		for (var parameter : BeanUtils.getResolvableConstructor(record).getParameters()) {
			String name = prefix + parameter.getName().replaceAll("([A-Z])", "-$1").toLowerCase();
			DefaultValue value = parameter.getAnnotation(DefaultValue.class);
			if (parameter.getType().isRecord()) {
				assertThat(value).as("@DefaultValue of %s", name).isNotNull();
				collectDefaults(parameter.getType(), name + ".", defaults);
			}
			else if (value != null && value.value().length == 1) {
				defaults.put(name, value.value()[0]);
			}
		}
	}

	@Test
	void documentationListsEachPropertyWithItsDefault() throws IOException {
		Map<String, String> documented = new TreeMap<>();
		Matcher row = ROW.matcher(Files.readString(Path.of("..", "docs", "properties.md")));
		while (row.find()) {
			documented.put(row.group(1), row.group(2).trim());
		}
		List<String> wrong = new ArrayList<>();
		properties().filter((property) -> documented.containsKey(property.name))
			.filter((property) -> !property.isDefault(documented.get(property.name)))
			.forEach((property) -> wrong.add(property + ", but documented: " + documented.get(property.name)));
		assertThat(wrong).isEmpty();
		assertThat(documented.keySet())
			.containsExactlyInAnyOrderElementsOf(properties().map((property) -> property.name).toList());
	}

	private record Property(String name, String type, String description, Object defaultValue) {

		boolean isDefault(String cell) {
			if (this.defaultValue == null) {
				return !cell.contains("`");
			}
			String text = String.valueOf(this.defaultValue).replaceAll("^\\$\\{(.*)}$", "$1");
			return cell.startsWith("`" + text + "`");
		}

		@Override
		public String toString() {
			return this.name + " = " + this.defaultValue;
		}

	}

}
