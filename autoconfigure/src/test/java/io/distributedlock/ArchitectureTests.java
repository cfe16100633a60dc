package io.distributedlock;

import java.time.Clock;
import java.util.Calendar;
import java.util.Date;
import java.util.List;
import java.util.Set;
import java.util.Timer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.function.Predicate;
import java.util.stream.Stream;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget.CodeUnitCallTarget;
import com.tngtech.archunit.core.domain.JavaCall;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.commons.annotation.Testable;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;

import io.distributedlock.local.LocalStore;
import io.distributedlock.local.NoLockProvider;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackages;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noFields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noMethods;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Keeps the layout: vocabulary at the root, mechanism below, glue last, and all arrows
 * pointing down.
 */
class ArchitectureTests {

	private static final String ROOT = "io.distributedlock";

	private static final JavaClasses MAIN = new ClassFileImporter()
		.withImportOption(new ImportOption.DoNotIncludeTests())
		.withImportOption(new ImportOption.DoNotIncludeJars())
		.importPackages(ROOT);

	private static final JavaClasses TESTS = new ClassFileImporter()
		.withImportOption(new ImportOption.OnlyIncludeTests())
		.importPackages(ROOT);

	/**
	 * Have no server whose clock lets fencing tokens continue after a restart. The date
	 * decides nothing there but their order.
	 */
	private static final Class<?>[] WITHOUT_A_STORE_CLOCK = { LocalStore.class, NoLockProvider.class };

	/**
	 * Shortens the wait for a fence by the deadline of its transaction, which Spring
	 * keeps as a date. That decides nothing: the wait is bounded all the same.
	 */
	private static final String WITH_A_DATE_OF_SPRING = ROOT + ".fencing.FencedTransaction";

	/**
	 * Read the clock for an instant of the past, from which they count: when a request
	 * was sent or answered, or something was last done. A deadline is a {@code Deadline}.
	 * The engine, in {@code support}, takes several decisions from one reading, and is
	 * not checked.
	 */
	private static final Set<String> CLOCK_READERS = Set.of("provider.Deadline", "jdbc.JdbcContender",
			"jdbc.NotificationListener", "jdbc.SqlCallExecutor", "local.LocalStore", "redis.LettuceTopologyRefresh",
			"zookeeper.CallDeadline", "zookeeper.ConnectionSilence", "zookeeper.Heartbeat", "zookeeper.Session",
			"zookeeper.SessionTracker");

	@Test
	void everyPackageIsKnown() {
		List<String> known = Stream.concat(Stream.of(ROOT), arrows().map((arrow) -> in((String) arrow.get()[0])))
			.toList();
		classes().should()
			.resideInAnyPackage(known.toArray(String[]::new))
			.because("a new package needs a row in the table of arrows")
			.check(MAIN);
	}

	@ParameterizedTest
	@MethodSource("arrows")
	void arrowsNameOnlyPackagesThatExist(String name, Set<String> mayImport) {
		assertThat(MAIN.containPackage(ROOT + "." + name)).isTrue();
	}

	@Test
	void rootKnowsOnlyJavaAndSpringCore() {
		classes().that()
			.resideInAPackage(ROOT)
			.should()
			.onlyDependOnClassesThat(resideInAnyPackage(ROOT, "java..", "org.jspecify..", "org.springframework.core..",
					"org.springframework.util..", "org.springframework.lang.."))
			.check(MAIN);
	}

	@ParameterizedTest
	@MethodSource("arrows")
	void packageImportsOnlyLowerPackages(String name, Set<String> mayImport) {
		String[] allowed = Stream.concat(Stream.of(ROOT, in(name)), mayImport.stream().map(ArchitectureTests::in))
			.toArray(String[]::new);
		noClasses().that()
			.resideInAPackage(in(name))
			.should()
			.dependOnClassesThat(resideInAnyPackage(ROOT + "..").and(resideOutsideOfPackages(allowed)))
			.check(MAIN);
	}

	static Stream<Arguments> arrows() {
		return Stream.of(Arguments.of("provider", Set.of()), Arguments.of("support", Set.of("provider")),
				Arguments.of("local", Set.of("provider")), Arguments.of("redis", Set.of("provider")),
				Arguments.of("jdbc", Set.of("provider")), Arguments.of("zookeeper", Set.of("provider")),
				Arguments.of("micrometer", Set.of("provider")), Arguments.of("slf4j", Set.of("provider")),
				Arguments.of("actuate", Set.of("provider", "support")), Arguments.of("reactive", Set.of()),
				Arguments.of("interceptor", Set.of("reactive")), Arguments.of("annotation", Set.of("interceptor")),
				Arguments.of("transaction", Set.of("interceptor", "support")), Arguments.of("web", Set.of()),
				Arguments.of("fencing", Set.of("provider", "support", "jdbc")),
				Arguments.of("autoconfigure",
						Set.of("provider", "support", "local", "redis", "jdbc", "zookeeper", "micrometer", "slf4j",
								"actuate", "reactive", "interceptor", "annotation", "transaction", "fencing", "web")));
	}

	@Test
	void packagesAreFreeOfCycles() {
		slices().matching(ROOT + ".(**)").should().beFreeOfCycles().check(MAIN);
	}

	@ParameterizedTest
	@MethodSource("packagesWithoutCircles")
	void typesOfAPackageAreFreeOfCycles(String name) {
		slices().assignedFrom(outermostTypesOf(name)).should().beFreeOfCycles().check(MAIN);
	}

	static Stream<String> packagesWithoutCircles() {
		return Stream.concat(Stream.of(ROOT), arrows().map((arrow) -> ROOT + "." + arrow.get()[0]));
	}

	private static SliceAssignment outermostTypesOf(String packageName) {
		return new SliceAssignment() {

			@Override
			public SliceIdentifier getIdentifierOf(JavaClass type) {
				return type.getPackageName().equals(packageName) ? SliceIdentifier.of(outermost(type).getSimpleName())
						: SliceIdentifier.ignore();
			}

			@Override
			public String getDescription() {
				return "types of " + packageName;
			}

		};
	}

	@ParameterizedTest
	@MethodSource("clients")
	void clientIsTouchedOnlyByItsOwnPackage(List<String> client, List<String> owners) {
		String[] allowed = owners.stream().map(ArchitectureTests::in).toArray(String[]::new);
		noClasses().that()
			.resideOutsideOfPackages(allowed)
			.should()
			.dependOnClassesThat()
			.resideInAnyPackage(client.toArray(String[]::new))
			.check(MAIN);
	}

	static Stream<Arguments> clients() {
		return Stream.of(
				Arguments.of(List.of("io.lettuce..", "redis.clients..", "org.springframework.data.redis.."),
						List.of("redis", "autoconfigure")),
				Arguments.of(
						List.of("java.sql..", "javax.sql..", "org.postgresql..", "org.mariadb..", "org.h2..",
								"com.zaxxer..", "org.springframework.jdbc.."),
						List.of("jdbc", "fencing", "autoconfigure")),
				Arguments.of(List.of("org.apache.zookeeper..", "org.apache.curator.."),
						List.of("zookeeper", "autoconfigure")),
				Arguments.of(List.of("io.micrometer.."), List.of("micrometer", "reactive", "autoconfigure")),
				Arguments.of(List.of("org.slf4j.."), List.of("slf4j", "autoconfigure")),
				Arguments.of(List.of("reactor..", "org.reactivestreams.."), List.of("reactive", "interceptor")),
				Arguments.of(List.of("org.springframework.aop..", "org.aopalliance.."),
						List.of("interceptor", "annotation", "transaction", "fencing", "autoconfigure")),
				Arguments.of(List.of("org.springframework.transaction.."),
						List.of("transaction", "fencing", "jdbc", "autoconfigure")),
				Arguments.of(List.of("org.springframework.web..", "org.springframework.http.."),
						List.of("web", "autoconfigure")),
				Arguments.of(List.of("org.springframework.web.servlet..", "org.springframework.web.reactive..",
						"jakarta.servlet.."), List.of()),
				Arguments.of(List.of("org.springframework.boot.."), List.of("actuate", "autoconfigure")));
	}

	@Test
	void healthAndEndpointKnowOnlyTheirPartOfBoot() {
		classes().that()
			.resideInAPackage(in("actuate"))
			.should()
			.onlyDependOnClassesThat(resideOutsideOfPackages("org.springframework.boot..").or(resideInAnyPackage(
					"org.springframework.boot.health.contributor..", "org.springframework.boot.actuate.endpoint..")))
			.check(MAIN);
	}

	@Test
	void everyPackageIsNullMarked() {
		classes().should(beInANullMarkedPackage()).check(MAIN);
	}

	@Test
	void noWallClockDecidesAnything() {
		noClasses().that()
			.doNotBelongToAnyOf(WITHOUT_A_STORE_CLOCK)
			.and()
			.doNotHaveFullyQualifiedName(WITH_A_DATE_OF_SPRING)
			.should()
			.callMethod(System.class, "currentTimeMillis")
			.orShould()
			.callConstructor(Date.class)
			.orShould()
			.callMethodWhere(target("reads a clock of java.time",
					(call) -> call.getOwner().getPackageName().equals("java.time") && call.getName().equals("now")))
			.orShould()
			.callMethodWhere(target("makes a system clock",
					(call) -> call.getOwner().isEquivalentTo(Clock.class)
							&& (call.getName().startsWith("system") || call.getName().startsWith("tick"))))
			.orShould()
			.callMethodWhere(target("makes a calendar",
					(call) -> call.getOwner().isAssignableTo(Calendar.class) && call.getName().equals("getInstance")))
			.because("only nanoTime measures time in the JVM, and only the store's clock decides expiry")
			.check(MAIN);
	}

	@Test
	void fewClassesReadTheClockOfTheJvm() {
		Stream<String> readers = MAIN.stream()
			.filter((type) -> !type.getPackageName().equals(ROOT + ".support"))
			.filter((type) -> type.getMethodCallsFromSelf()
				.stream()
				.anyMatch((call) -> call.getTargetOwner().isEquivalentTo(System.class)
						&& call.getTarget().getName().equals("nanoTime")))
			.map((type) -> outermost(type).getName().substring(ROOT.length() + 1))
			.distinct();
		assertThat(readers).as("classes that call System.nanoTime() instead of using a Deadline")
			.containsExactlyInAnyOrderElementsOf(CLOCK_READERS);
	}

	@Test
	void workRunsOnOurOwnThreads() {
		noClasses().should()
			.dependOnClassesThat()
			.areAssignableTo(Timer.class)
			.orShould()
			.callMethod(ForkJoinPool.class, "commonPool")
			.orShould()
			.callMethodWhere(target("runs a stage on the common pool", (call) -> isStage(call.getOwner())
					&& call.getName().endsWith("Async")
					&& call.getRawParameterTypes().stream().noneMatch((type) -> type.isEquivalentTo(Executor.class))))
			.check(MAIN);
	}

	@Test
	void autoConfigurationsAreFinalWithoutPublicMembers() {
		classes().that()
			.areAnnotatedWith(AutoConfiguration.class)
			.should()
			.haveModifier(JavaModifier.FINAL)
			.andShould()
			.bePublic()
			.andShould()
			.haveSimpleNameEndingWith("AutoConfiguration")
			.andShould()
			.resideInAPackage(in("autoconfigure"))
			.check(MAIN);
		noMethods().that()
			.areDeclaredInClassesThat()
			.areAnnotatedWith(AutoConfiguration.class)
			.should()
			.bePublic()
			.check(MAIN);
		noFields().that()
			.areDeclaredInClassesThat()
			.areAnnotatedWith(AutoConfiguration.class)
			.should()
			.bePublic()
			.check(MAIN);
	}

	@Test
	void beanNamesBeginWithTheNameOfTheProject() {
		methods().that()
			.areAnnotatedWith(Bean.class)
			.should()
			.haveNameMatching("distributed[Ll]ock.*")
			.andShould(beNamedByTheMethod())
			.because("a bean of the application, or of another library, may have any shorter name; the name of a health"
					+ " contributor is its id, which is in lower case")
			.check(MAIN);
	}

	@Test
	void testsAreFoundByTheBuild() {
		methods().that()
			.areMetaAnnotatedWith(Testable.class)
			.should()
			.beDeclaredInClassesThat(describe("are abstract or belong to a class that ends in Tests",
					(type) -> type.getModifiers().contains(JavaModifier.ABSTRACT) || type.isInterface()
							|| outermost(type).getSimpleName().endsWith("Tests")))
			.check(TESTS);
		assertThat(TESTS.contain(ArchitectureTests.class)).isTrue();
	}

	@Test
	void testsAssertWithAssertJ() {
		noClasses().should()
			.dependOnClassesThat()
			.haveFullyQualifiedName("org.junit.jupiter.api.Assertions")
			.orShould()
			.dependOnClassesThat()
			.resideInAnyPackage("org.hamcrest..")
			.check(TESTS);
	}

	private static String in(String name) {
		return ROOT + "." + name + "..";
	}

	private static boolean isStage(JavaClass type) {
		return type.isEquivalentTo(CompletableFuture.class) || type.isEquivalentTo(CompletionStage.class);
	}

	private static JavaClass outermost(JavaClass type) {
		return type.getEnclosingClass().map(ArchitectureTests::outermost).orElse(type);
	}

	private static DescribedPredicate<JavaCall<?>> target(String description, Predicate<CodeUnitCallTarget> predicate) {
		return describe(description, (call) -> predicate.test(call.getTarget()));
	}

	private static ArchCondition<JavaMethod> beNamedByTheMethod() {
		return new ArchCondition<>("have no other bean name") {

			@Override
			public void check(JavaMethod method, ConditionEvents events) {
				Bean bean = method.getAnnotationOfType(Bean.class);
				boolean plain = bean.name().length == 0 && bean.value().length == 0;
				events.add(new SimpleConditionEvent(method, plain, method.getFullName() + " names its bean"));
			}

		};
	}

	private static ArchCondition<JavaClass> beInANullMarkedPackage() {
		return new ArchCondition<>("be in a package that is @NullMarked") {

			@Override
			public void check(JavaClass type, ConditionEvents events) {
				boolean marked = type.getPackage().isAnnotatedWith(NullMarked.class);
				events.add(new SimpleConditionEvent(type, marked,
						type.getPackageName() + " has " + (marked ? "" : "no ") + "@NullMarked package-info"));
			}

		};
	}

}
