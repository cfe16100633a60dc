package io.distributedlock;

import java.time.Clock;
import java.util.Calendar;
import java.util.Date;
import java.util.List;
import java.util.Map;
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
	 * The engine takes several decisions from one reading, and is not checked.
	 */
	private static final Set<String> CLOCK_READERS = Set.of("provider.Deadline", "jdbc.JdbcContender",
			"jdbc.NotificationListener", "jdbc.connection.SqlCallExecutor", "local.LocalStore",
			"zookeeper.session.CallDeadline", "zookeeper.session.SilenceWatch", "zookeeper.session.Heartbeat",
			"zookeeper.session.Session", "zookeeper.session.SessionTracker");

	@Test
	void everyPackageIsKnown() {
		List<String> known = Stream.concat(Stream.of(ROOT), arrows().map((arrow) -> ROOT + "." + arrow.get()[0]))
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
		String[] allowed = Stream
			.concat(Stream.of(ROOT, ROOT + "." + name), mayImport.stream().map((other) -> ROOT + "." + other))
			.toArray(String[]::new);
		noClasses().that()
			.resideInAPackage(ROOT + "." + name)
			.should()
			.dependOnClassesThat(resideInAnyPackage(ROOT + "..").and(resideOutsideOfPackages(allowed)))
			.check(MAIN);
	}

	/** Each room, and the rooms that it uses beside the root. */
	static Stream<Arguments> arrows() {
		return Stream.of(room("provider"), room("local", "provider"), room("micrometer", "provider"),
				room("slf4j", "provider"), room("reactive", "engine.grant"), room("web"),
				// The engine.
				room("engine.concurrent", "provider"), room("engine.event", "provider", "engine.concurrent"),
				room("engine.release", "provider", "engine.concurrent"),
				room("engine.grant", "provider", "engine.concurrent", "engine.event", "engine.release"),
				room("engine.renewal", "provider", "engine.concurrent", "engine.event", "engine.grant"),
				room("engine.queue", "provider", "engine.concurrent", "engine.event", "engine.grant", "engine.release",
						"engine.renewal"),
				room("engine", "provider", "engine.concurrent", "engine.event", "engine.grant", "engine.queue",
						"engine.release", "engine.renewal"),
				// The stores.
				room("redis.script", "provider"), room("redis.lettuce", "provider", "redis.script"),
				room("redis.jedis", "provider", "redis.script"), room("redis.check", "provider", "redis.script"),
				room("redis", "provider", "redis.script", "redis.lettuce", "redis.jedis", "redis.check"),
				room("redis.quorum", "provider", "redis", "redis.script", "redis.lettuce", "redis.check"),
				room("jdbc.dialect", "provider"), room("jdbc.connection", "provider", "jdbc.dialect"),
				room("jdbc", "provider", "jdbc.dialect", "jdbc.connection"),
				room("jdbc.rowlock", "provider", "jdbc", "jdbc.dialect", "jdbc.connection"),
				room("zookeeper.session", "provider"), room("zookeeper.node", "provider", "zookeeper.session"),
				room("zookeeper", "provider", "zookeeper.session", "zookeeper.node"),
				// Annotated methods.
				room("interceptor.expression"), room("interceptor", "interceptor.expression", "reactive"),
				room("interceptor.verify", "interceptor", "interceptor.expression"),
				room("interceptor.aot", "interceptor", "interceptor.expression", "interceptor.verify"),
				room("annotation", "interceptor"), room("transaction", "engine"),
				room("fencing", "provider", "engine", "jdbc", "jdbc.dialect"),
				// Spring Boot.
				room("actuate", "provider", "engine", "engine.renewal"), room("autoconfigure", "provider", "engine",
						"engine.concurrent", "engine.grant", "local", "jdbc", "jdbc.rowlock", "interceptor",
						"interceptor.verify", "annotation", "transaction", "reactive", "web"),
				room("autoconfigure.redis", "autoconfigure", "provider", "redis", "redis.quorum"),
				room("autoconfigure.jdbc", "autoconfigure", "provider", "jdbc", "jdbc.dialect", "jdbc.connection",
						"jdbc.rowlock"),
				room("autoconfigure.zookeeper", "autoconfigure", "provider", "zookeeper", "zookeeper.session"),
				room("autoconfigure.fencing", "autoconfigure", "autoconfigure.jdbc", "provider", "engine", "jdbc",
						"jdbc.connection", "fencing", "transaction"),
				room("autoconfigure.observe", "autoconfigure", "provider", "engine.grant", "local", "interceptor",
						"micrometer", "slf4j", "actuate"));
	}

	private static Arguments room(String name, String... mayUse) {
		return Arguments.of(name, Set.of(mayUse));
	}

	@ParameterizedTest
	@MethodSource("arrows")
	void roomIsSmall(String name, Set<String> mayUse) {
		assertThat(MAIN.stream()
			.filter((type) -> type.getPackageName().equals(ROOT + "." + name))
			.map(ArchitectureTests::outermost)
			.distinct()).hasSizeLessThanOrEqualTo(45);
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

	/**
	 * The state machines of several types, by the name of the type that has the others as
	 * parts: a part knows its whole.
	 */
	private static final Map<String, Set<String>> WHOLES = Map
		.of("KeyQueue",
				Set.of("HandOff", "KeyAnswers", "KeyContest", "KeyQueueRegistry", "KeyRequest", "KeyShares",
						"StoreAttempt", "WaiterQueue"),
				"HeldGrant", Set.of("GrantQueue"), "Hold", Set.of("EngineLease"));

	private static String whole(JavaClass type) {
		String name = outermost(type).getSimpleName();
		return WHOLES.entrySet()
			.stream()
			.filter((whole) -> whole.getValue().contains(name))
			.map(Map.Entry::getKey)
			.findFirst()
			.orElse(name);
	}

	private static SliceAssignment outermostTypesOf(String packageName) {
		return new SliceAssignment() {

			@Override
			public SliceIdentifier getIdentifierOf(JavaClass type) {
				return type.getPackageName().equals(packageName) ? SliceIdentifier.of(whole(type))
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
				Arguments.of(List.of("reactor..", "org.reactivestreams.."), List.of("reactive", "interceptor", "web")),
				Arguments.of(List.of("org.springframework.aop..", "org.aopalliance.."),
						List.of("interceptor", "annotation", "transaction", "fencing", "autoconfigure")),
				Arguments.of(List.of("org.springframework.transaction.."),
						List.of("transaction", "fencing", "jdbc", "autoconfigure")),
				Arguments.of(List.of("org.springframework.security.."), List.of("interceptor")),
				Arguments.of(List.of("org.springframework.web..", "org.springframework.http.."),
						List.of("web", "autoconfigure")),
				Arguments.of(List.of("jakarta.servlet.."), List.of("web")),
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
			.filter((type) -> !type.getPackageName().startsWith(ROOT + ".engine"))
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
