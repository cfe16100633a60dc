package io.distributedlock.autoconfigure;

import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.aop.support.annotation.AnnotationMatchingPointcut;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.access.AccessDeniedException;
import org.springframework.security.access.prepost.PostAuthorize;
import org.springframework.security.access.prepost.PostFilter;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.authorization.AuthorizationDecision;
import org.springframework.security.authorization.method.AuthorizationManagerBeforeReactiveMethodInterceptor;
import org.springframework.security.config.annotation.method.configuration.EnableMethodSecurity;
import org.springframework.security.config.annotation.method.configuration.EnableReactiveMethodSecurity;
import org.springframework.security.core.context.ReactiveSecurityContextHolder;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.core.context.SecurityContextImpl;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.annotation.DistributedLock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests of locked methods that Spring Security protects: denied calls take no lock, and
 * no subscription passes it.
 */
class SecuredMethodTests {

	private static final TestingAuthenticationToken TELLER = new TestingAuthenticationToken("ann", "", "ROLE_TELLER");

	private final CompositionJournal journal = new CompositionJournal();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
		.withPropertyValues("distributed-lock.provider=local")
		.withBean(CompositionJournal.class, () -> this.journal);

	private final ApplicationContextRunner reactive = this.runner.withUserConfiguration(Reactive.class);

	@AfterEach
	void logOut() {
		SecurityContextHolder.clearContext();
	}

	@Test
	void deniedCallTakesNoLock() {
		this.runner.withUserConfiguration(Blocking.class).run((context) -> {
			Teller teller = context.getBean(Teller.class);
			SecurityContextHolder.getContext().setAuthentication(new TestingAuthenticationToken("bob", ""));
			assertThatExceptionOfType(AccessDeniedException.class).isThrownBy(teller::pay);
			assertThat(this.journal.takeAtEnd()).isEmpty();
			SecurityContextHolder.getContext().setAuthentication(TELLER);
			teller.pay();
			assertThat(this.journal.takeAtEnd()).containsExactly("lock", "body", "unlock");
		});
	}

	@Test
	void resultIsJudgedAfterTheLock() {
		this.runner.withUserConfiguration(Blocking.class).run((context) -> {
			SecurityContextHolder.getContext().setAuthentication(new TestingAuthenticationToken("bob", ""));
			assertThatExceptionOfType(AccessDeniedException.class).isThrownBy(context.getBean(Teller.class)::look);
			assertThat(this.journal.takeAtEnd()).containsExactly("lock", "body", "unlock");
		});
	}

	@Test
	void deniedCallTakesTheLockWhereThatIsOutside() {
		this.runner.withUserConfiguration(Blocking.class)
			.withPropertyValues("distributed-lock.aop.order=0")
			.run((context) -> {
				SecurityContextHolder.getContext().setAuthentication(new TestingAuthenticationToken("bob", ""));
				assertThatExceptionOfType(AccessDeniedException.class).isThrownBy(context.getBean(Teller.class)::pay);
				assertThat(this.journal.takeAtEnd()).containsExactly("lock", "unlock");
			});
	}

	@ParameterizedTest
	@ValueSource(classes = { ReactiveTeller.class, ReactiveFilter.class })
	void subscriptionThatWouldPassTheLockFailsTheStart(Class<?> type) {
		this.reactive.withBean(type).run((context) -> {
			assertThat(context).hasFailed();
			assertThat(context.getStartupFailure()).cause()
				.isInstanceOfSatisfying(LockConfigurationException.class,
						(ex) -> assertThat(ex.error()).isEqualTo(LockError.SECURITY_OUTSIDE_LOCK))
				.hasMessageContaining(type.getName() + ".pay(")
				.hasMessageContaining("distributed-lock.aop.order=0");
		});
	}

	@Test
	void subscriptionThatWouldPassTheLockBehindAnInterceptorOfTheApplicationFailsTheStart() {
		this.runner.withBean(LockedAccount.class)
			.withBean(AuthorizationManagerBeforeReactiveMethodInterceptor.class,
					() -> new AuthorizationManagerBeforeReactiveMethodInterceptor(
							new AnnotationMatchingPointcut(null, DistributedLock.class),
							(authentication, call) -> Mono.just(new AuthorizationDecision(true))),
					(definition) -> definition.setRole(BeanDefinition.ROLE_INFRASTRUCTURE))
			.run((context) -> assertThat(context.getStartupFailure()).cause()
				.isInstanceOfSatisfying(LockConfigurationException.class,
						(ex) -> assertThat(ex.error()).isEqualTo(LockError.SECURITY_OUTSIDE_LOCK)));
	}

	/** It proceeds once, before the publisher is subscribed to. */
	@Test
	void blockingSecurityDoesNotPassTheLockOfAPublisher() {
		this.runner.withUserConfiguration(Blocking.class).withBean(ReactiveTeller.class).run((context) -> {
			ReactiveTeller teller = context.getBean(ReactiveTeller.class);
			SecurityContextHolder.getContext().setAuthentication(TELLER);
			assertTakesTheLockTwice(teller.pay());
			SecurityContextHolder.getContext().setAuthentication(new TestingAuthenticationToken("bob", ""));
			assertThatExceptionOfType(AccessDeniedException.class).isThrownBy(teller::pay);
			assertThat(this.journal.takeAtEnd()).isEmpty();
		});
	}

	@Test
	void eachSubscriptionTakesTheLockOutsideSecurity() {
		this.reactive.withBean(ReactiveTeller.class)
			.withPropertyValues("distributed-lock.aop.order=0")
			.run((context) -> {
				Mono<String> paid = context.getBean(ReactiveTeller.class).pay();
				assertThatExceptionOfType(AccessDeniedException.class).isThrownBy(paid::block);
				assertThat(this.journal.takeAtEnd()).containsExactly("lock", "unlock");
				assertTakesTheLockTwice(paid);
			});
	}

	@Test
	void eachSubscriptionTakesTheLockOfABeanBehindSecurity() {
		this.reactive.withBean(LockedAccount.class).withBean(Facade.class).run((context) -> {
			Mono<String> paid = context.getBean(Facade.class).pay();
			assertThatExceptionOfType(AccessDeniedException.class).isThrownBy(paid::block);
			assertThat(this.journal.takeAtEnd()).isEmpty();
			assertTakesTheLockTwice(paid);
		});
	}

	@Test
	void judgedResultDoesNotPassTheLock() {
		this.reactive.withBean(ReactiveJudge.class)
			.run((context) -> assertTakesTheLockTwice(context.getBean(ReactiveJudge.class).pay()));
	}

	private void assertTakesTheLockTwice(Mono<String> paid) {
		Mono<String> permitted = paid.contextWrite(
				ReactiveSecurityContextHolder.withSecurityContext(Mono.just(new SecurityContextImpl(TELLER))));
		assertThat(permitted.block()).isEqualTo("paid");
		assertThat(permitted.block()).isEqualTo("paid");
		assertThat(this.journal.takeAtEnd()).containsExactly("lock", "body", "unlock", "lock", "body", "unlock");
	}

	@Configuration(proxyBeanMethods = false)
	@EnableMethodSecurity
	static class Blocking {

		@Bean
		Teller teller(CompositionJournal journal) {
			return new Teller(journal);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableReactiveMethodSecurity
	static class Reactive {

	}

	static class Teller {

		private final CompositionJournal journal;

		Teller(CompositionJournal journal) {
			this.journal = journal;
		}

		@PreAuthorize("hasRole('TELLER')")
		@DistributedLock(name = "secured")
		void pay() {
			this.journal.add("body");
		}

		@PostAuthorize("returnObject == 'for everybody'")
		@DistributedLock(name = "secured")
		String look() {
			this.journal.add("body");
			return "secret";
		}

	}

	static class ReactiveTeller {

		private final CompositionJournal journal;

		ReactiveTeller(CompositionJournal journal) {
			this.journal = journal;
		}

		@PreAuthorize("hasRole('TELLER')")
		@DistributedLock(name = "secured")
		Mono<String> pay() {
			return Mono.fromCallable(() -> {
				this.journal.add("body");
				return "paid";
			});
		}

	}

	static class ReactiveFilter {

		@PostFilter("filterObject == 'paid'")
		@DistributedLock(name = "secured")
		Flux<String> pay() {
			return Flux.fromIterable(List.of("paid", "open"));
		}

	}

	static class ReactiveJudge {

		private final CompositionJournal journal;

		ReactiveJudge(CompositionJournal journal) {
			this.journal = journal;
		}

		@PostAuthorize("returnObject == 'paid'")
		@DistributedLock(name = "secured")
		Mono<String> pay() {
			return Mono.fromCallable(() -> {
				this.journal.add("body");
				return "paid";
			});
		}

	}

	static class Facade {

		private final LockedAccount account;

		Facade(LockedAccount account) {
			this.account = account;
		}

		@PreAuthorize("hasRole('TELLER')")
		Mono<String> pay() {
			return this.account.pay();
		}

	}

	static class LockedAccount {

		private final CompositionJournal journal;

		LockedAccount(CompositionJournal journal) {
			this.journal = journal;
		}

		@DistributedLock(name = "secured")
		Mono<String> pay() {
			return Mono.fromCallable(() -> {
				this.journal.add("body");
				return "paid";
			});
		}

	}

}
