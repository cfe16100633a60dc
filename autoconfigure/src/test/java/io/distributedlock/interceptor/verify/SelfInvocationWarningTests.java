package io.distributedlock.interceptor.verify;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.distributedlock.annotation.AnnotationLockAttributeSource;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.interceptor.LockedMethodRegistry;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(OutputCaptureExtension.class)
class SelfInvocationWarningTests {

	private static final Pattern WARNING = Pattern
		.compile("DL-623: (\\S+) \\(line (\\d+)\\) calls the locked method (.+) on its own");

	private final LockedMethodRegistry methods = new LockedMethodRegistry(
			new AnnotationLockAttributeSource((text) -> text), new DefaultListableBeanFactory());

	private final SelfInvocationWarning warning = new SelfInvocationWarning(this.methods);

	@Test
	void messageNamesCallerLineLockedMethodAndFix(CapturedOutput output) {
		check(new Plain());
		int line = Plain.line();
		assertThat(output.toString().lines().filter((text) -> text.contains("DL-623"))).first()
			.asString()
			.contains(" WARN ")
			.endsWith("DL-623: io.distributedlock.interceptor.verify.SelfInvocationWarningTests$Plain.payAll "
					+ "(line " + line + ") calls the locked method "
					+ "io.distributedlock.interceptor.verify.SelfInvocationWarningTests$Plain.pay(long) on its own object, past"
					+ " the proxy, so that this call runs without the lock. Call it through the bean, which can be"
					+ " injected into itself as a @Lazy dependency, move it to another bean, or run the work with"
					+ " LockOperations.execute; LockAssert.assertHeld(\"Plain.pay\") in the locked method makes such a call"
					+ " fail");
	}

	@ParameterizedTest
	@MethodSource("calls")
	void callOfTheOwnObjectIsFound(Object bean, String caller, String called, CapturedOutput output) {
		check(bean);
		assertThat(warnings(output)).containsExactly(caller + " -> " + called);
	}

	static Stream<Arguments> calls() {
		return Stream.of(Arguments.of(new InLambda(), "InLambda.lambda$payAll$0", "InLambda.pay(long)"),
				Arguments.of(new InConstructor(), "InConstructor.<init>", "InConstructor.pay(long)"),
				Arguments.of(new WithArguments(), "WithArguments.payAll",
						"WithArguments.pay(long, double, String, Object)"),
				Arguments.of(new Subclass(), "Base.payAll", "Subclass.pay(long)"),
				Arguments.of(new OfInterface(), "Payments.payAll", "OfInterface.pay(long)"),
				Arguments.of(new OfType(), "OfType.payAll", "OfType.pay(long)"),
				Arguments.of(new Recursive(), "Recursive.pay", "Recursive.pay(long)"),
				Arguments.of(new OtherKey(), "OtherKey.payAll", "OtherKey.pay(long)"));
	}

	@ParameterizedTest
	@ValueSource(classes = { Injected.class, OtherObject.class, Overriding.class, OverridesUnlocked.class,
			SameLock.class, PrivateOverload.class, OfBothKinds.class, OtherClass.class, OfTheJdk.class })
	void otherCallsAreNotSuspected(Class<?> type, CapturedOutput output) {
		this.warning.check(type);
		assertThat(this.methods.isLocked(type)).isTrue();
		assertThat(warnings(output)).isEmpty();
	}

	@Test
	void classIsSearchedOnce(CapturedOutput output) {
		check(new Plain());
		check(new Plain());
		assertThat(warnings(output)).hasSize(2);
	}

	@Test
	void classWithoutAClassFileIsLeftOut(CapturedOutput output) throws Exception {
		Class<?> type = new ClassLoader(null) {

			@Override
			protected Class<?> findClass(String name) throws ClassNotFoundException {
				if (!name.startsWith(SelfInvocationWarningTests.class.getName())) {
					return Class.forName(name, false, Plain.class.getClassLoader());
				}
				try (InputStream file = Plain.class.getResourceAsStream("/" + name.replace('.', '/') + ".class")) {
					byte[] code = file.readAllBytes();
					return defineClass(name, code, 0, code.length);
				}
				catch (IOException ex) {
					throw new ClassNotFoundException(name, ex);
				}
			}

		}.loadClass(Plain.class.getName());
		assertThat(this.methods.isLocked(type)).isTrue();
		this.warning.check(type);
		assertThat(warnings(output)).isEmpty();
	}

	private void check(Object bean) {
		this.warning.check(bean.getClass());
	}

	private static List<String> warnings(CapturedOutput output) {
		return WARNING.matcher(output.toString())
			.results()
			.map((found) -> simple(found.group(1)) + " -> " + simple(found.group(3)))
			.toList();
	}

	private static String simple(String name) {
		return name.replaceAll("[\\w.]*SelfInvocationWarningTests\\$", "").replaceAll("java\\.lang\\.", "");
	}

	static class Plain {

		static int line() {
			return new Throwable().getStackTrace()[0].getLineNumber() + 4;
		}

		void payAll() {
			pay(1);
			pay(2);
		}

		@DistributedLock("#id")
		void pay(long id) {
		}

	}

	static class InLambda {

		Runnable payAll() {
			return () -> pay(1);
		}

		@DistributedLock("#id")
		void pay(long id) {
		}

	}

	static class InConstructor {

		InConstructor() {
			pay(1);
		}

		@DistributedLock("#id")
		void pay(long id) {
		}

	}

	static class WithArguments {

		private final String text = String.valueOf(this);

		void payAll(StringBuilder to) {
			pay(Math.max(to.length(), 7L), 2, "a" + to + this.text.trim(), new StringBuilder(this.text));
		}

		@DistributedLock("#id")
		void pay(long id, double amount, String text, Object to) {
		}

	}

	abstract static class Base {

		void payAll() {
			pay(1);
		}

		abstract void pay(long id);

	}

	static class Subclass extends Base {

		@Override
		@DistributedLock("#id")
		void pay(long id) {
		}

	}

	interface Payments {

		@DistributedLock("#id")
		void pay(long id);

		default void payAll() {
			pay(1);
		}

	}

	static class OfInterface implements Payments {

		@Override
		public void pay(long id) {
		}

	}

	@DistributedLock("'x'")
	static class OfType {

		public void payAll() {
			pay(1);
		}

		public void pay(long id) {
		}

	}

	static class Recursive {

		@DistributedLock("#id")
		void pay(long id) {
			if (id > 0) {
				pay(0);
			}
		}

	}

	@DistributedLock(name = "payments")
	static class OtherKey {

		public void payAll() {
			pay(1);
		}

		@DistributedLock(name = "payments", key = "#id")
		public void pay(long id) {
		}

	}

	static class Injected {

		private @Nullable Injected self;

		private final Map<String, Injected> beans = Map.of();

		void payAll(boolean first) {
			Injected bean = first ? this.self : self();
			bean.pay(1);
			this.self.pay(1);
			self().pay(2);
			((Injected) (Object) this.beans.get("self")).pay(3);
			Runnable later = () -> this.self.pay(4);
			LongConsumer reference = this.self::pay;
			(first ? this : this.self).payAll(false);
			(first ? this : this.self).pay(5);
			later.run();
			reference.accept(6);
		}

		private Injected self() {
			return this.self;
		}

		@DistributedLock("#id")
		void pay(long id) {
		}

	}

	static class OtherObject {

		void payAll(OtherObject other) {
			other.pay(1);
			new OtherObject().pay(2);
			other.pay(hashCode());
			other.pay(this == other ? 1 : 2);
			other.pay(new Object[] { this, other }.length);
			OtherObject self = this;
			self = other;
			self.pay(3);
		}

		static void payStatic(OtherObject first) {
			first.pay(1);
		}

		@DistributedLock("#id")
		void pay(long id) {
		}

		static class Task {

			private OtherObject other;

			void run() {
				this.other.pay(1);
			}

		}

	}

	static class Overriding extends OfType {

		@Override
		public void payAll() {
		}

		@Override
		public void pay(long id) {
			super.pay(id);
		}

		@Override
		public String toString() {
			return super.toString();
		}

	}

	static class Unlocked {

		void pay(long id) {
		}

	}

	static class OverridesUnlocked extends Unlocked {

		void payAll() {
			super.pay(1);
		}

		@Override
		@DistributedLock("#id")
		void pay(long id) {
		}

	}

	static class SameLock {

		@DistributedLock(name = "same")
		void payAll() {
			pay();
		}

		@DistributedLock(name = "same")
		void pay() {
		}

	}

	static class PrivateOverload {

		void payAll() {
			pay("1");
		}

		private void pay(String id) {
		}

		@DistributedLock("#id")
		void pay(long id) {
		}

	}

	static class OfBothKinds {

		void payAll(OfBothKinds other, boolean own) {
			OfBothKinds either = own ? this : other;
			either.pay();
			(own ? other : this).pay();
		}

		@DistributedLock
		void pay() {
		}

	}

	static class OfTheJdk implements Consumer<Object> {

		@Override
		@DistributedLock
		public void accept(Object value) {
		}

	}

	static class OtherClass {

		void payAll(Plain plain) {
			plain.pay(1);
		}

		@DistributedLock("#id")
		void pay(long id) {
		}

	}

}
