package io.distributedlock.annotation;

import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.OnBusy;
import io.distributedlock.interceptor.LockedProxies;
import io.distributedlock.interceptor.RecordingLockOperations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

@ExtendWith(OutputCaptureExtension.class)
class DefaultNamesTests {

	private final LockedProxies proxies = new LockedProxies(new RecordingLockOperations());

	@Test
	void overloadsMeetByDefault() {
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> this.proxies.read(Overloads.class))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.AMBIGUOUS_NAME))
			.withMessageContaining("'Overloads.run'");
	}

	@Test
	void classesOfOneSimpleNameMeetByDefault() {
		this.proxies.read(Left.Jobs.class);
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> this.proxies.read(Right.Jobs.class))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.AMBIGUOUS_NAME))
			.withMessageContaining("Left$Jobs")
			.withMessageContaining("Right$Jobs")
			.withMessageContaining("name = ");
	}

	@Test
	void subclassesMayShareTheMethodOfTheirSuperclass() {
		assertThatNoException().isThrownBy(() -> {
			this.proxies.read(Left.Jobs.class);
			this.proxies.read(MoreJobs.class);
		});
	}

	@ParameterizedTest
	@MethodSource("jobsOfOneDefaultName")
	void jobsThatInheritADefaultNameAreRefused(Class<?> first, Class<?> second, String name) {
		this.proxies.read(first);
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> this.proxies.read(second))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.AMBIGUOUS_NAME))
			.withMessageContaining(first.getSimpleName())
			.withMessageContaining(second.getSimpleName())
			.withMessageContaining("'" + name + "'");
	}

	static Stream<Arguments> jobsOfOneDefaultName() {
		return Stream.of(Arguments.of(DailyReport.class, WeeklyReport.class, "Report.run"),
				Arguments.of(DailyExport.class, WeeklyExport.class, "Export.run"));
	}

	@Test
	void classesThatInheritADefaultNameAreWarnedOfOnce(CapturedOutput output) {
		this.proxies.read(Left.Jobs.class);
		this.proxies.read(MoreJobs.class);
		this.proxies.read(this.proxies.ofClass(new MoreJobs()).getClass());
		assertThat(output.toString().lines().filter((line) -> line.contains("DL-608"))).singleElement()
			.asString()
			.contains(" WARN ", "Left$Jobs", "MoreJobs", "'Jobs.nightly'");
	}

	@Test
	void classesWhoseKeysDifferMayInheritADefaultName(CapturedOutput output) {
		this.proxies.read(DailyImport.class);
		this.proxies.read(WeeklyImport.class);
		assertThat(output).doesNotContain("DL-608");
	}

	@Test
	void classThatReplacesAJobInATestIsNotRefused() {
		this.proxies.read(DailyReport.class);
		assertThatNoException().isThrownBy(() -> this.proxies.read(FakeReport.class));
	}

	@Test
	void inheritedMethodsOfAnnotatedTypesAreTwoLocks() {
		RecordingLockOperations operations = new RecordingLockOperations();
		LockedProxies locked = new LockedProxies(operations);
		locked.ofClass(new Reports()).run();
		assertThat(operations.keys()).containsExactly("Reports.run");
		locked.ofClass(new Invoices()).run();
		assertThat(operations.keys()).containsExactly("Invoices.run");
		locked.ofClass(new MoreInvoices()).run();
		assertThat(operations.keys()).containsExactly("Invoices.run");
	}

	@Test
	void ownMethodsOfAnnotatedTypesAreNamedAfterTheirClass() {
		RecordingLockOperations operations = new RecordingLockOperations();
		new LockedProxies(operations).ofClass(new Invoices()).send();
		assertThat(operations.keys()).containsExactly("Invoices.send");
	}

	abstract static class Report {

		@ScheduledLock(minHold = "1m")
		public void run() {
		}

	}

	static class DailyReport extends Report {

	}

	static class WeeklyReport extends Report {

	}

	static class FakeReport extends DailyReport {

	}

	abstract static class Import {

		@DistributedLock(key = "#root.target.class.name", onBusy = OnBusy.SKIP)
		public void run() {
		}

	}

	static class DailyImport extends Import {

	}

	static class WeeklyImport extends Import {

	}

	interface Export {

		@DistributedLock(onBusy = OnBusy.SKIP)
		default void run() {
		}

	}

	static class DailyExport implements Export {

	}

	static class WeeklyExport implements Export {

	}

	static class Base {

		public void run() {
		}

	}

	@DistributedLock
	static class Reports extends Base {

	}

	@DistributedLock
	static class Invoices extends Base {

		public void send() {
		}

	}

	static class MoreInvoices extends Invoices {

	}

	static class Overloads {

		@DistributedLock
		void run() {
		}

		@DistributedLock
		void run(String id) {
		}

	}

	static class Left {

		static class Jobs {

			@DistributedLock
			void nightly() {
			}

		}

	}

	static class Right {

		static class Jobs {

			@DistributedLock
			void nightly() {
			}

		}

	}

	static class MoreJobs extends Left.Jobs {

	}

}
