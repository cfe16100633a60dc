package io.distributedlock.benchmarks.run;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import io.distributedlock.benchmarks.Store;
import io.distributedlock.benchmarks.contender.Library;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

@Tag("full")
class OptionsTests {

	@Test
	void withoutArgumentsEverythingIsMeasured() {
		Options options = Options.parse(List.of());
		assertThat(options.stores()).containsExactly(Store.values());
		assertThat(options.asksFor("distinct-keys", false)).isTrue();
		assertThat(options.asksFor(Library.REDISSON)).isTrue();
		assertThat(options.asksFor(Library.OURS_BEFORE)).isFalse();
		assertThat(options.rounds()).isEqualTo(5);
	}

	@Test
	void quickRunHasTheMainScenariosAndShortRounds() {
		Options options = Options.parse(List.of("--store", "redis", "--quick"));
		assertThat(options.asksFor("distinct-keys", false)).isFalse();
		assertThat(options.asksFor("hand-over", true)).isTrue();
		assertThat(options.duration()).isEqualTo(Duration.ofSeconds(1));
		assertThat(new Plan(options).estimate()).isLessThan(Duration.ofMinutes(10));
	}

	@Test
	void everythingIsMeasuredWithinThreeHours() {
		Plan plan = new Plan(Options.parse(List.of("--all")));
		assertThat(plan.options().stores()).containsExactly(Store.values());
		assertThat(plan.options().rounds()).isEqualTo(3);
		assertThat(plan.estimate()).isBetween(Duration.ofHours(2), Duration.ofHours(3));
		assertThat(InProcess.isAsked(plan.options())).isTrue();
		assertThat(InProcess.isAsked(Options.parse(List.of("--all", "--store", "h2")))).isFalse();
		assertThat(plan.toString())
			.matches("This takes about 2:\\d\\d hours, until \\d\\d:\\d\\d: \\d{3} measurements \\(redis 0:.*");
	}

	@Test
	void everythingIsNeverMeasuredForSomeContendersAlone() {
		assertThatIllegalArgumentException().isThrownBy(() -> Options.parse(List.of("--all", "--only", "ours")))
			.withMessage("--all measures every scenario and contender, and this build alone");
		assertThatIllegalArgumentException().isThrownBy(() -> Options.parse(List.of("--all", "--quick")))
			.withMessage("--all and --quick exclude each other");
	}

	@Test
	void scenariosStoresAndContendersAreChosen() {
		Options options = Options.parse(List.of("uncontended-1", "--store", "h2", "--store", "redis-cluster", "--only",
				"ours,raw", "--seconds", "7", "--rounds", "9"));
		assertThat(options.asksFor("uncontended-1", false)).isTrue();
		assertThat(options.asksFor("uncontended-16", true)).isFalse();
		assertThat(options.stores()).containsExactly(Store.H2, Store.REDIS_CLUSTER);
		assertThat(options.asksFor(Library.RAW)).isTrue();
		assertThat(options.asksFor(Library.SHEDLOCK)).isFalse();
		assertThat(options.duration()).isEqualTo(Duration.ofSeconds(7));
		assertThat(options.rounds()).isEqualTo(9);
	}

	@Test
	void anotherBuildRunsBesideOurs(@TempDir Path folder) throws Exception {
		Path jar = Files.createFile(folder.resolve("before.jar"));
		Options options = Options.parse(List.of("--only", "ours", "--ours-before", jar.toString()));
		assertThat(options.asksFor(Library.OURS_BEFORE)).isTrue();
		assertThat(options.oursBefore()).isEqualTo(jar.toAbsolutePath());
	}

	@Test
	void whatDoesNotExistIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> Options.parse(List.of("hot-cakes")))
			.withMessageContaining("There is no scenario 'hot-cakes', only [uncontended-1");
		assertThatIllegalArgumentException().isThrownBy(() -> Options.parse(List.of("--store", "oracle")))
			.withMessageContaining("There is no store 'oracle', only [redis");
		assertThatIllegalArgumentException().isThrownBy(() -> Options.parse(List.of("--only", "ours,etcd")))
			.withMessageContaining("There is no contender 'etcd'");
		assertThatIllegalArgumentException().isThrownBy(() -> Options.parse(List.of("--seconds", "0")))
			.withMessage("--seconds is '0', but has to be a number of 1 or more");
		assertThatIllegalArgumentException().isThrownBy(() -> Options.parse(List.of("--rounds")))
			.withMessage("--rounds needs a value");
		assertThatIllegalArgumentException().isThrownBy(() -> Options.parse(List.of("--fast")))
			.withMessage("There is no option '--fast'");
		assertThatIllegalArgumentException().isThrownBy(() -> Options.parse(List.of("--ours-before", "no.jar")))
			.withMessage("--ours-before is 'no.jar', which is no file");
	}

}
