package io.distributedlock.annotation;

import org.junit.jupiter.api.Test;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.interceptor.LockedProxies;
import io.distributedlock.interceptor.RecordingLockOperations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

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
