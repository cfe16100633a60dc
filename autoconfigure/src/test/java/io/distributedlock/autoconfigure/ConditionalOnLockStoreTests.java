package io.distributedlock.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurationImportFilter;
import org.springframework.boot.autoconfigure.AutoConfigurationMetadata;
import org.springframework.boot.autoconfigure.condition.ConditionEvaluationReport;
import org.springframework.boot.autoconfigure.condition.ConditionEvaluationReport.ConditionAndOutcome;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.core.env.Environment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.io.support.SpringFactoriesLoader;

import io.distributedlock.autoconfigure.ConditionalOnLockStore.OnStoreCondition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.fail;
import static org.mockito.Mockito.mock;

/** What properties leave out, and the ways in which they are written. */
class ConditionalOnLockStoreTests {

	private static final List<String> ALL = ImportCandidates.load(AutoConfiguration.class, null)
		.getCandidates()
		.stream()
		.filter((name) -> name.startsWith("io.distributedlock."))
		.toList();

	private final DefaultListableBeanFactory beanFactory = new DefaultListableBeanFactory();

	private final StandardEnvironment environment = new StandardEnvironment();

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			''                                              | LockFencing RedisQuorum
			distributed-lock.provider=local                 | Jdbc LockFencing Redis RedisQuorum ZooKeeper
			distributed-lock.provider=jdbc                  | LockFencing Redis RedisQuorum ZooKeeper
			distributed-lock.provider=Redis                 | Jdbc LockFencing RedisQuorum ZooKeeper
			distributed-lock.fencing.enabled=true           | RedisQuorum
			distributed-lock.redis.quorum.nodes[0]=one:6379 | LockFencing
			""")
	void autoConfigurationsThatPropertiesRuleOutAreLeftOut(String property, String out) {
		if (!property.isEmpty()) {
			add(property);
		}
		assertThat(filtered()).containsExactly(out.split(" "));
	}

	@ParameterizedTest
	@ValueSource(strings = { "distributedLock.provider=jdbc", "distributed_lock.PROVIDER= jdbc " })
	void propertyIsReadInEachSpelling(String property) {
		add(property);
		ConfigurationPropertySources.attach(this.environment);
		assertThat(NamedProvider.of(this.environment)).isEqualTo(new NamedProvider("jdbc"));
	}

	@Test
	void variablesOfTheProcessAreRead() {
		this.environment.getPropertySources()
			.addFirst(new SystemEnvironmentPropertySource("test-systemEnvironment",
					Map.of("DISTRIBUTEDLOCK_PROVIDER", "jdbc")));
		ConfigurationPropertySources.attach(this.environment);
		assertThat(NamedProvider.of(this.environment)).isEqualTo(new NamedProvider("jdbc"));
	}

	@Test
	void placeholderOfAMissingPropertyEndsTheStart() {
		add("distributed-lock.provider=${LOCK_STORE}");
		ConfigurationPropertySources.attach(this.environment);
		assertThatIllegalArgumentException().isThrownBy(() -> NamedProvider.of(this.environment))
			.withMessageContaining("LOCK_STORE");
	}

	@Test
	void reportTellsWhatIsLeftOutAndWhy() {
		add("distributed-lock.provider=jdbc");
		filtered();
		assertThat(ConditionEvaluationReport.get(this.beanFactory)
			.getConditionAndOutcomesBySource()
			.get("io.distributedlock.autoconfigure.redis.RedisLockAutoConfiguration")).singleElement()
			.extracting(ConditionAndOutcome::getOutcome)
			.hasToString("@ConditionalOnLockStore redis distributed-lock.provider is 'jdbc'");
	}

	@Test
	void filterRunsBeforeThoseThatLoadClasses() {
		assertThat(SpringFactoriesLoader.loadFactories(AutoConfigurationImportFilter.class, null).get(0))
			.isInstanceOf(OnStoreCondition.class);
	}

	@Test
	void candidatesThatAreLeftOutAlreadyAreNoMatter() {
		assertThat(filter().match(new String[] { null, "org.example.OtherAutoConfiguration" },
				mock(AutoConfigurationMetadata.class)))
			.containsExactly(true, true);
	}

	/** Spring Boot asks for every class that an auto-configuration imports. */
	@Test
	void noPropertyIsReadForClassesOfOthers() {
		OnStoreCondition filter = new OnStoreCondition();
		filter.setEnvironment(mock(Environment.class, (invocation) -> fail("read: " + invocation)));
		String[] others = ALL.stream().map((name) -> name.replace("io.", "org.")).toArray(String[]::new);
		assertThat(filter.match(others, mock(AutoConfigurationMetadata.class))).doesNotContain(false);
	}

	private void add(String property) {
		int split = property.indexOf('=');
		this.environment.getPropertySources()
			.addFirst(new MapPropertySource(property,
					Map.of(property.substring(0, split), property.substring(split + 1))));
	}

	private OnStoreCondition filter() {
		OnStoreCondition filter = new OnStoreCondition();
		filter.setBeanFactory(this.beanFactory);
		filter.setEnvironment(this.environment);
		return filter;
	}

	/** Returns what is left out, by the beginnings of the names. */
	private List<String> filtered() {
		boolean[] matches = filter().match(ALL.toArray(String[]::new), mock(AutoConfigurationMetadata.class));
		List<String> out = new ArrayList<>();
		for (int i = 0; i < matches.length; i++) {
			if (!matches[i]) {
				String name = ALL.get(i).substring(ALL.get(i).lastIndexOf('.') + 1).replace("AutoConfiguration", "");
				out.add(name.equals("LockFencing") ? name : name.replace("Lock", ""));
			}
		}
		return out;
	}

}
