package io.distributedlock.annotation;

import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.Arrays;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

import static org.assertj.core.api.Assertions.assertThat;

/** The quick look at annotations finds what Spring finds. */
class LockAnnotationPresenceTests {

	private final LockAnnotationPresence presence = new LockAnnotationPresence();

	@ParameterizedTest
	@ValueSource(classes = { OnMethod.class, OnType.class, Composed.class, ComposedTwice.class, InContainer.class,
			Below.class, Implementing.class, BesideOthers.class })
	void annotationIsFound(Class<?> type) {
		assertThat(bySpring(type)).isTrue();
		assertThat(this.presence.isInHierarchy(type)).isTrue();
		assertThat(this.presence.isInHierarchy(type)).isTrue();
	}

	@ParameterizedTest
	@ValueSource(classes = { Plain.class, Object.class, String.class, WithOthers.class, WithContainer.class })
	void otherAnnotationsBringNoLock(Class<?> type) {
		assertThat(bySpring(type)).isFalse();
		assertThat(this.presence.isInHierarchy(type)).isFalse();
		assertThat(this.presence.isInHierarchy(type)).isFalse();
	}

	private static boolean bySpring(Class<?> type) {
		return MergedAnnotations.from(type, SearchStrategy.TYPE_HIERARCHY).isPresent(DistributedLock.class)
				|| Arrays.stream(type.getMethods())
					.anyMatch((method) -> MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY)
						.isPresent(DistributedLock.class));
	}

	@Retention(RetentionPolicy.RUNTIME)
	@DistributedLock
	@interface Locked {

	}

	@Retention(RetentionPolicy.RUNTIME)
	@Locked
	@interface LockedTwice {

	}

	@Retention(RetentionPolicy.RUNTIME)
	@DistributedLock
	@Repeatable(Container.class)
	@interface Repeated {

	}

	@Retention(RetentionPolicy.RUNTIME)
	@interface Container {

		Repeated[] value();

	}

	@Retention(RetentionPolicy.RUNTIME)
	@interface Others {

		Deprecated[] value();

	}

	static class OnMethod {

		@DistributedLock
		public void run() {
		}

	}

	@DistributedLock
	static class OnType {

	}

	static class Composed {

		@Locked
		public void run() {
		}

	}

	static class ComposedTwice {

		@LockedTwice
		public void run() {
		}

	}

	static class InContainer {

		@Repeated
		@Repeated
		public void run() {
		}

	}

	static class BesideOthers {

		@Deprecated
		public void stop() {
		}

		@Deprecated
		@Locked
		public void run() {
		}

	}

	static class Below extends OnMethod {

	}

	static class Implementing implements Contract {

		@Override
		public void run() {
		}

	}

	interface Contract {

		@DistributedLock
		void run();

	}

	static class Plain {

		public void run() {
		}

	}

	@Deprecated
	static class WithOthers {

		@Deprecated
		public void run() {
		}

	}

	static class WithContainer {

		@Others(@Deprecated)
		public void run() {
		}

	}

}
