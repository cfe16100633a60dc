package io.distributedlock.testkit;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import org.junit.jupiter.api.Test;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackages;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.simpleNameEndingWith;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Keeps the kit usable from another package and another project.
 */
class TestKitTests {

	private static final JavaClasses KIT = new ClassFileImporter().importPackages("io.distributedlock.testkit");

	@Test
	void publicSignaturesHavePublicTypes() {
		List<String> hidden = new ArrayList<>();
		for (JavaClass type : KIT) {
			if (isVisible(type.reflect())) {
				signatures(type.reflect()).filter((used) -> !isVisible(used))
					.forEach((used) -> hidden.add(type.getSimpleName() + " uses " + used.getSimpleName()));
			}
		}
		assertThat(hidden).isEmpty();
	}

	private static Stream<Class<?>> signatures(Class<?> type) {
		Stream<Class<?>> ofMethods = Stream.concat(Stream.of(type.getMethods()), Stream.of(type.getDeclaredMethods()))
			.filter((method) -> isAccessible(method.getModifiers()) && !method.isSynthetic())
			.flatMap(TestKitTests::types);
		Stream<Class<?>> ofConstructors = Stream.of(type.getDeclaredConstructors())
			.filter((constructor) -> isAccessible(constructor.getModifiers()))
			.map(Constructor::getParameterTypes)
			.flatMap(Stream::of);
		return Stream.concat(ofMethods, ofConstructors);
	}

	private static Stream<Class<?>> types(Method method) {
		return Stream.concat(Stream.of(method.getReturnType()), Stream.of(method.getParameterTypes()));
	}

	private static boolean isAccessible(int modifiers) {
		return Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
	}

	private static boolean isVisible(Class<?> type) {
		return type.isPrimitive()
				|| (type.isArray() ? isVisible(type.componentType()) : Modifier.isPublic(type.getModifiers())
						&& (type.getDeclaringClass() == null || isVisible(type.getDeclaringClass())));
	}

	/** A member of a part would be a member of each class that extends the contract. */
	@Test
	void partsOfTheContractHaveNoFieldsAndNoNestedTypes() {
		List<String> inherited = new ArrayList<>();
		KIT.stream().filter((type) -> type.isInterface() && !isVisible(type.reflect())).forEach((type) -> {
			type.getFields().forEach((field) -> inherited.add(field.getFullName()));
			Stream.of(type.reflect().getDeclaredClasses()).forEach((nested) -> inherited.add(nested.getName()));
		});
		assertThat(inherited).isEmpty();
	}

	@Test
	void kitNeedsOnlyTheLibraryAndThreeTestLibraries() {
		noClasses().that(not(simpleNameEndingWith("Tests")))
			.should()
			.dependOnClassesThat(resideOutsideOfPackages("io.distributedlock", "io.distributedlock.provider",
					"io.distributedlock.engine..", "io.distributedlock.testkit", "java..", "org.jspecify..",
					"org.apache.commons.logging", "org.junit..", "org.assertj..", "org.awaitility.."))
			.check(KIT);
	}

}
