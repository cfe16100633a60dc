package io.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.distributedlock.FencingToken;
import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockContext;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockListener;
import io.distributedlock.LockLostException;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockOperations;
import io.distributedlock.LockRequest;
import io.distributedlock.LossReason;
import io.distributedlock.OnLost;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.engine.LockTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;
import static org.springframework.transaction.TransactionDefinition.PROPAGATION_NESTED;
import static org.springframework.transaction.TransactionDefinition.PROPAGATION_NOT_SUPPORTED;
import static org.springframework.transaction.TransactionDefinition.PROPAGATION_REQUIRED;
import static org.springframework.transaction.TransactionDefinition.PROPAGATION_REQUIRES_NEW;
import static org.springframework.transaction.TransactionDefinition.PROPAGATION_SUPPORTS;

/**
 * Locks that are acquired inside running transactions, whatever happens to either. Starts
 * the application as Boot does, and commits in H2.
 */
class LocksInTransactionsTests {

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private static ConfigurableApplicationContext context;

	private static LockTemplate locks;

	private static Shop shop;

	private static JdbcTemplate jdbc;

	private final LockKey first = LockKey.of("first");

	private final LockKey second = LockKey.of("second");

	@BeforeAll
	static void start() {
		context = start(new String[0]);
		locks = context.getBean(LockTemplate.class);
		shop = context.getBean(Shop.class);
		jdbc = context.getBean(JdbcTemplate.class);
	}

	@AfterAll
	static void stop() {
		context.close();
	}

	@AfterEach
	void nothingIsLeft(TestInfo test) {
		assertThat(LockContext.findAll()).isEmpty();
		assertThat(locks.snapshot().held()).as(test.getDisplayName()).isEmpty();
		jdbc.update("DELETE FROM orders");
	}

	private static ConfigurableApplicationContext start(String... properties) {
		return new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE)
			.properties("distributed-lock.provider=local", "spring.datasource.generate-unique-name=true",
					"spring.autoconfigure.exclude=org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration,"
							+ "org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration")
			.properties(properties)
			.run();
	}

	@Test
	void lockOfAViewIsKeptUntilTheTransactionHasCompleted() {
		Lock lock = locks.asLock(LockRequest.of(this.first));
		in(PROPAGATION_REQUIRED, (status) -> {
			for (int round = 0; round < 3; round++) {
				lock.lock();
				lock.unlock();
			}
			assertBusy(this.first);
			assertThat(TransactionSynchronizationManager.getSynchronizations()).hasSize(1);
			in(PROPAGATION_REQUIRES_NEW, (inner) -> {
				lock.lock();
				lock.unlock();
			});
			assertBusy(this.first);
		});
		assertThat(isBusy(this.first)).isFalse();
	}

	@Test
	void lockOfAViewThatIsUnlockedInATransactionIsKeptUntilItHasCompleted() {
		Lock lock = locks.asLock(LockRequest.of(this.first));
		lock.lock();
		in(PROPAGATION_REQUIRED, (status) -> {
			lock.unlock();
			assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock);
			assertBusy(this.first);
		});
		assertThat(isBusy(this.first)).isFalse();
		lock.lock();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> in(PROPAGATION_REQUIRED, (status) -> {
			locks.forceRelease(this.first);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::unlock);
		}));
	}

	/** It would wait for the share that its own transaction keeps. */
	@Test
	void exclusiveCallAfterASharedOneOfTheTransactionIsRefused() {
		LockRequest request = LockRequest.of(this.first);
		in(PROPAGATION_REQUIRED, (status) -> {
			locks.execute(request.shared(), (lease) -> null);
			assertThatExceptionOfType(LockConfigurationException.class)
				.isThrownBy(() -> locks.execute(request, (lease) -> null))
				.withMessageContainingAll("DL-630", "an earlier one of its transaction");
		});
		in(PROPAGATION_REQUIRED, (status) -> {
			locks.execute(request, (lease) -> null);
			locks.execute(request.shared(), (lease) -> null);
		});
	}

	/** The transaction keeps what the call has joined, also after it has returned. */
	@Test
	void viewIsUnlockedAfterACallInTheTransactionThatHasJoinedIt() {
		Lock lock = locks.asLock(LockRequest.of(this.first));
		LockRequest both = LockRequest.ofAll(List.of(this.first, this.second));
		for (boolean within : new boolean[] { true, false }) {
			for (boolean lockedBefore : new boolean[] { true, false }) {
				if (lockedBefore) {
					lock.lock();
				}
				in(PROPAGATION_REQUIRED, (status) -> {
					if (!lockedBefore) {
						lock.lock();
					}
					locks.execute(both, (lease) -> null);
					in(PROPAGATION_NOT_SUPPORTED, (suspended) -> assertBusy(this.second));
					if (within) {
						lock.unlock();
					}
					assertBusy(this.first);
					assertBusy(this.second);
				});
				if (!within) {
					assertBusy(this.first);
					lock.unlock();
				}
				assertFree(this.first);
				assertFree(this.second);
			}
		}
	}

	/** The lock of another engine's key covers nothing. */
	@Test
	@Tag("full")
	void viewThatIsUnlockedUnderAnotherEnginesLockOfItsKeyIsKeptByTheTransaction() {
		try (ConfigurableApplicationContext other = start(new String[0])) {
			Lock lock = locks.asLock(LockRequest.of(this.first));
			other.getBean(LockTemplate.class).execute(LockRequest.of(this.first), (foreign) -> {
				lock.lock();
				in(PROPAGATION_REQUIRED, (status) -> {
					lock.unlock();
					assertBusy(this.first);
				});
				assertFree(this.first);
				return null;
			});
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void lockIsKeptUntilTheTransactionHasCompleted(boolean commit) {
		AtomicInteger heldAtEnd = new AtomicInteger();
		in(PROPAGATION_REQUIRED, (status) -> {
			hold(this.first);
			assertBusy(this.first);
			assertThat(LockContext.current().keys()).containsExactly(this.first);
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public int getOrder() {
					return 0;
				}

				@Override
				public void afterCompletion(int completion) {
					heldAtEnd.set(isBusy(LocksInTransactionsTests.this.first) ? 1 : -1);
				}

			});
			if (!commit) {
				status.setRollbackOnly();
			}
		});
		assertThat(heldAtEnd).hasValue(1);
		assertFree(this.first);
	}

	@Test
	void bindingsOfNestedCallsAreIndependent() {
		in(PROPAGATION_REQUIRED, (status) -> {
			locks.execute(LockRequest.of(this.first), (lease) -> {
				hold(this.second);
				assertBusy(this.second);
				assertThat(LockContext.current()).isSameAs(lease);
				return null;
			});
			assertBusy(this.first);
			assertBusy(this.second);
			assertThat(LockContext.findAll()).hasSize(2);
		});
		assertFree(this.first);
		assertFree(this.second);
	}

	@Test
	void viewThatIsUnlockedAfterTheTransactionIsHeldUntilThen() {
		Lock lock = locks.asLock(LockRequest.of(this.first));
		in(PROPAGATION_REQUIRED, (status) -> lock.lock());
		assertBusy(this.first);
		lock.unlock();
		assertFree(this.first);
	}

	@Test
	void lostViewRefusesTheCommit() {
		Lock lock = locks.asLock(LockRequest.of(this.first));
		lock.lock();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> in(PROPAGATION_REQUIRED, (status) -> {
			jdbc.update("INSERT INTO orders VALUES (1)");
			locks.forceRelease(this.first);
		}));
		assertThat(jdbc.queryForObject("SELECT count(*) FROM orders", Integer.class)).isZero();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::unlock);
	}

	@Test
	void innerTransactionReleasesItsLocksOnly() {
		in(PROPAGATION_REQUIRED, (outer) -> {
			hold(this.first);
			in(PROPAGATION_REQUIRES_NEW, (inner) -> {
				hold(this.second);
				hold(this.first);
				assertBusy(this.second);
			});
			assertFree(this.second);
			assertBusy(this.first);
			hold(this.second);
			assertBusy(this.second);
		});
		assertFree(this.first);
		assertFree(this.second);
	}

	@Test
	void lockOfAnInnerTransactionsMethodBelongsToTheOuterOne() {
		in(PROPAGATION_REQUIRED, (outer) -> {
			shop.orderInNewTransaction(1);
			assertThat(count()).isOne();
			assertBusy(LockKey.of("shop", "1"));
		});
		assertFree(LockKey.of("shop", "1"));
	}

	@Test
	void lockOfALoserInAnInnerTransactionStopsThatOneOnly() {
		in(PROPAGATION_REQUIRED, (outer) -> {
			shop.order(1);
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> in(PROPAGATION_REQUIRES_NEW, (inner) -> {
					shop.order(2);
					locks.forceRelease(LockKey.of("shop", "2"));
				}));
		});
		assertThat(count()).isOne();
	}

	@Test
	void lockThatWasTakenBeforeIsReleasedByItsOwnCall() {
		locks.execute(LockRequest.of(this.first), (lease) -> {
			in(PROPAGATION_REQUIRED, (status) -> {
				hold(this.first);
				hold(this.second);
				assertThat(LockContext.current()).isSameAs(lease);
			});
			assertFree(this.second);
			assertBusy(this.first);
			return null;
		});
		assertFree(this.first);
	}

	@Test
	void laterCallForTheKeyJoins() {
		in(PROPAGATION_REQUIRED, (status) -> {
			FencingToken token = locks.execute(LockRequest.of(this.first), LockLease::fencingToken);
			locks.execute(LockRequest.of(this.first).withWaitTime(Duration.ZERO), (lease) -> {
				assertThat(lease.fencingToken()).isEqualTo(token);
				return null;
			});
			assertThat(LockContext.current().fencingToken()).isEqualTo(token);
			assertBusy(this.first);
		});
		assertFree(this.first);
	}

	@ParameterizedTest
	@ValueSource(ints = { TransactionSynchronization.STATUS_COMMITTED, TransactionSynchronization.STATUS_ROLLED_BACK,
			TransactionSynchronization.STATUS_UNKNOWN })
	void anotherThreadMayCompleteTheTransaction(int status) {
		runIn(new FakeTransaction(), (transaction) -> {
			hold(this.first);
			assertBusy(this.first);
			transaction.completeElsewhere(status);
			assertFree(this.first);
			assertThat(LockContext.findAll()).isEmpty();
		});
	}

	@Test
	void lockIsHeldWhileItsBodyRunsThoughTheTransactionHasEnded() {
		runIn(new FakeTransaction(), (transaction) -> {
			locks.execute(LockRequest.of(this.first), (lease) -> {
				transaction.completeElsewhere(TransactionSynchronization.STATUS_ROLLED_BACK);
				assertBusy(this.first);
				lease.ensureHeld();
				return null;
			});
			assertFree(this.first);
		});
	}

	@Test
	void lockThatWasLostInAFormerTransactionIsForgotten() {
		locks.execute(LockRequest.of(this.second), (lease) -> {
			runIn(new FakeTransaction(), (transaction) -> {
				hold(this.first);
				locks.forceRelease(this.first);
				transaction.completeElsewhere(TransactionSynchronization.STATUS_ROLLED_BACK);
			});
			in(PROPAGATION_REQUIRED, (status) -> hold(this.first));
			return null;
		});
		assertFree(this.first);
	}

	@Test
	void lockSurvivesTheRollbackToASavepoint() {
		in(PROPAGATION_REQUIRED, (outer) -> {
			insert();
			in(PROPAGATION_NESTED, (nested) -> {
				shop.order(1);
				nested.setRollbackOnly();
			});
			assertThat(count()).isOne();
			assertBusy(LockKey.of("shop", "1"));
		});
		assertFree(LockKey.of("shop", "1"));
	}

	@ParameterizedTest
	@ValueSource(ints = { PROPAGATION_SUPPORTS, PROPAGATION_NOT_SUPPORTED })
	void lockEndsWithItsMethodWithoutATransaction(int propagation) {
		in(propagation, (status) -> {
			hold(this.first);
			assertFree(this.first);
		});
		in(PROPAGATION_REQUIRED, (outer) -> in(PROPAGATION_NOT_SUPPORTED, (status) -> {
			hold(this.first);
			assertFree(this.first);
		}));
	}

	@Test
	void lockEndsWithItsMethodOnceTheTransactionHasEnded() {
		AtomicInteger heldAfter = new AtomicInteger();
		in(PROPAGATION_REQUIRED,
				(status) -> TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void afterCompletion(int completion) {
						hold(LocksInTransactionsTests.this.first);
						heldAfter.set(isBusy(LocksInTransactionsTests.this.first) ? 1 : -1);
					}

				}));
		assertThat(heldAfter).hasValue(-1);
	}

	@Test
	void lockThatIsTakenAfterTheCommitIsReleasedAfterTheCompletion() {
		in(PROPAGATION_REQUIRED,
				(status) -> TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void afterCommit() {
						hold(LocksInTransactionsTests.this.first);
					}

				}));
		assertFree(this.first);
	}

	@Test
	void transactionByHandKeepsTheLock() {
		PlatformTransactionManager transactions = context.getBean(PlatformTransactionManager.class);
		TransactionStatus status = transactions.getTransaction(new DefaultTransactionDefinition());
		shop.order(1);
		assertBusy(LockKey.of("shop", "1"));
		transactions.commit(status);
		assertFree(LockKey.of("shop", "1"));
		assertThat(count()).isOne();
	}

	@Test
	void methodThatJoinsATransactionKeepsItsLockUntilThatEnds() {
		in(PROPAGATION_REQUIRED, (outer) -> {
			shop.orderInTransaction(1);
			assertBusy(LockKey.of("shop", "1"));
		});
		assertFree(LockKey.of("shop", "1"));
		assertThat(count()).isOne();
	}

	@Test
	void lockIsKeptThoughTheBodyFails() {
		in(PROPAGATION_REQUIRED, (status) -> {
			assertThatIllegalStateException().isThrownBy(() -> locks.execute(LockRequest.of(this.first), (lease) -> {
				insert();
				throw new IllegalStateException("body");
			}));
			assertBusy(this.first);
		});
		assertFree(this.first);
		assertThat(count()).isOne();
	}

	@Test
	void lostLockRefusesTheCommitOfTheOuterTransaction() {
		LockLease[] other = new LockLease[1];
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> in(PROPAGATION_REQUIRED, (status) -> {
			shop.order(7);
			locks.forceRelease(LockKey.of("shop", "7"));
			other[0] = locks.acquire(LockRequest.of(LockKey.of("shop", "7")));
		})).satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.LOST));
		assertThat(count()).isZero();
		other[0].ensureHeld();
		assertBusy(LockKey.of("shop", "7"));
		other[0].close();
		assertThat(context.getBean(LossExceptions.class).of(LockKey.of("shop", "7"))).isOne();
	}

	@Test
	void ignoredLossDoesNotRefuseTheCommit() {
		in(PROPAGATION_REQUIRED, (status) -> {
			shop.orderIgnoringLosses(List.of(1));
			locks.forceRelease(LockKey.of("shop", "1"));
		});
		assertThat(count()).isOne();
	}

	@Test
	void ignoredLossOfFurtherKeysDoesNotRefuseTheCommit() {
		in(PROPAGATION_REQUIRED, (status) -> {
			shop.orderIgnoringLosses(List.of(1));
			shop.orderIgnoringLosses(List.of(1, 2));
			locks.forceRelease(LockKey.of("shop", "2"));
		});
		assertThat(count()).isEqualTo(2);
	}

	@Test
	void lossIsNotIgnoredForAnotherCallOfTheTransaction() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> in(PROPAGATION_REQUIRED, (status) -> {
			shop.orderIgnoringLosses(List.of(1));
			shop.order(1);
			locks.forceRelease(LockKey.of("shop", "1"));
		}));
		assertThat(count()).isZero();
	}

	@Test
	void busyLockLeavesTheTransactionAsItIs() {
		LockLease other = locks.acquire(LockRequest.of(this.first));
		in(PROPAGATION_REQUIRED, (status) -> {
			LockRequest once = LockRequest.ofAll(List.of(this.first, this.second)).withWaitTime(Duration.ZERO);
			assertThatExceptionOfType(LockNotAcquiredException.class)
				.isThrownBy(() -> locks.execute(once, (lease) -> null));
			assertThat(LockContext.findAll()).isEmpty();
			await().atMost(PATIENCE).until(() -> !isBusy(this.second));
			insert();
		});
		other.ensureHeld();
		other.close();
		assertThat(count()).isOne();
	}

	@Test
	void severalKeysAreKeptTogether() {
		in(PROPAGATION_REQUIRED, (status) -> {
			hold(this.second);
			locks.execute(LockRequest.ofAll(List.of(this.first, this.second)), (lease) -> null);
			assertBusy(this.first);
			assertBusy(this.second);
			locks.execute(LockRequest.ofAll(List.of(this.first, this.second)).withWaitTime(Duration.ZERO),
					(lease) -> null);
		});
		assertFree(this.first);
		assertFree(this.second);
	}

	@Test
	void asynchronousWorkOutlastsTheTransaction() {
		CompletableFuture<String> work = new CompletableFuture<>();
		CompletableFuture<?>[] result = new CompletableFuture<?>[1];
		in(PROPAGATION_REQUIRED,
				(status) -> result[0] = locks.executeAsync(LockRequest.of(this.first), (lease) -> work));
		assertThat(LockContext.findAll()).isEmpty();
		assertBusy(this.first);
		work.complete("done");
		assertThat(result[0]).succeedsWithin(PATIENCE).isEqualTo("done");
		assertFree(this.first);
	}

	@Test
	void transactionOutlastsAsynchronousWork() {
		in(PROPAGATION_REQUIRED, (status) -> {
			CompletableFuture<String> work = new CompletableFuture<>();
			CompletableFuture<String> result = locks.executeAsync(LockRequest.of(this.first), (lease) -> work);
			work.complete("done");
			assertThat(result).succeedsWithin(PATIENCE).isEqualTo("done");
			assertBusy(this.first);
		});
		assertFree(this.first);
	}

	@Test
	void handleByHandIsReleasedByItsOwner() {
		in(PROPAGATION_REQUIRED, (status) -> {
			locks.acquire(LockRequest.of(this.first)).close();
			assertFree(this.first);
		});
	}

	@Test
	@Tag("full")
	void transactionMayCommitWhenLockingHasStopped() {
		try (ConfigurableApplicationContext stopping = start("distributed-lock.shutdown.grace-period=0")) {
			LockTemplate stopped = stopping.getBean(LockTemplate.class);
			new TransactionTemplate(stopping.getBean(PlatformTransactionManager.class))
				.executeWithoutResult((status) -> {
					stopping.getBean(Shop.class).order(1);
					stopped.stop(Duration.ZERO);
				});
			assertThat(
					stopping.getBean(JdbcTemplate.class).queryForObject("SELECT count(*) FROM orders", Integer.class))
				.isOne();
			assertThat(LockContext.findAll()).isEmpty();
			stopped.start();
			stopped.acquire(LockRequest.of(LockKey.of("shop", "1"))).close();
		}
	}

	@Test
	@Tag("full")
	void lockEndsWithItsMethodIfAskedFor() {
		try (ConfigurableApplicationContext other = start("distributed-lock.transaction.release=at-method-end")) {
			new TransactionTemplate(other.getBean(PlatformTransactionManager.class)).executeWithoutResult((status) -> {
				other.getBean(Shop.class).order(1);
				assertThat(other.getBean(LockTemplate.class).snapshot().held()).isEmpty();
				assertThat(LockContext.findAll()).isEmpty();
			});
		}
	}

	@Test
	@Tag("full")
	void lockIsKeptWithoutTheCommitGuardToo() {
		try (ConfigurableApplicationContext other = start("distributed-lock.transaction.commit-guard=false")) {
			LockTemplate held = other.getBean(LockTemplate.class);
			new TransactionTemplate(other.getBean(PlatformTransactionManager.class)).executeWithoutResult((status) -> {
				other.getBean(Shop.class).order(1);
				assertThat(held.snapshot().held()).hasSize(1);
			});
			assertThat(held.snapshot().held()).isEmpty();
		}
	}

	@Test
	@Tag("full")
	void commitIsRefusedWhenLessThanTheMarginIsLeft() {
		try (ConfigurableApplicationContext other = start("distributed-lock.transaction.commit-margin=15s")) {
			TransactionTemplate transaction = new TransactionTemplate(other.getBean(PlatformTransactionManager.class));
			LockOperations operations = other.getBean(LockOperations.class);
			LockRequest brief = LockRequest.of(this.first).withLease(Duration.ofSeconds(15));
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> transaction.executeWithoutResult((status) -> operations.execute(brief, (lease) -> {
					other.getBean(Shop.class).order(1);
					return null;
				})))
				.withMessageContaining("'first'")
				.withMessageContaining("less than the commit margin of 15000 ms")
				.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.COMMIT_MARGIN));
			JdbcTemplate data = other.getBean(JdbcTemplate.class);
			assertThat(data.queryForObject("SELECT count(*) FROM orders", Integer.class)).isZero();
			transaction.executeWithoutResult((status) -> other.getBean(Shop.class).order(2));
			assertThat(data.queryForObject("SELECT count(*) FROM orders", Integer.class)).isOne();
		}
	}

	private void hold(LockKey key) {
		locks.execute(LockRequest.of(key), (lease) -> {
			lease.ensureHeld();
			return null;
		});
	}

	private void assertBusy(LockKey key) {
		assertThat(isBusy(key)).as("%s is busy", key).isTrue();
	}

	private void assertFree(LockKey key) {
		assertThat(isBusy(key)).as("%s is busy", key).isFalse();
	}

	/** A handle that is acquired by hand joins no other. */
	private static boolean isBusy(LockKey key) {
		LockLease lease = locks.tryAcquire(LockRequest.of(key).withWaitTime(Duration.ZERO));
		if (lease != null) {
			lease.close();
		}
		return lease == null;
	}

	private static void in(int propagation, Consumer<TransactionStatus> work) {
		TransactionTemplate template = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
		template.setPropagationBehavior(propagation);
		template.executeWithoutResult(work);
	}

	private static void insert() {
		jdbc.update("INSERT INTO orders VALUES (0)");
	}

	private static int count() {
		Integer count = jdbc.queryForObject("SELECT count(*) FROM orders", Integer.class);
		return (count != null) ? count : -1;
	}

	private static void runIn(FakeTransaction transaction, Consumer<FakeTransaction> work) {
		try {
			work.accept(transaction);
		}
		finally {
			transaction.end();
		}
	}

	/** A transaction of this thread that ends on another one, as with JTA. */
	private static final class FakeTransaction {

		FakeTransaction() {
			TransactionSynchronizationManager.initSynchronization();
			TransactionSynchronizationManager.setActualTransactionActive(true);
		}

		void completeElsewhere(int status) {
			List<TransactionSynchronization> synchronizations = TransactionSynchronizationManager.getSynchronizations();
			end();
			CompletableFuture
				.runAsync(() -> synchronizations.forEach((synchronization) -> synchronization.afterCompletion(status)))
				.join();
		}

		void end() {
			TransactionSynchronizationManager.clear();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		Shop shop(JdbcTemplate jdbc) {
			return new Shop(jdbc);
		}

		@Bean
		LossExceptions losses() {
			return new LossExceptions();
		}

	}

	static class Shop {

		private final JdbcTemplate jdbc;

		Shop(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
			jdbc.execute("CREATE TABLE orders (id INT)");
		}

		@DistributedLock(name = "shop", key = "#id")
		void order(int id) {
			this.jdbc.update("INSERT INTO orders VALUES (?)", id);
		}

		@Transactional
		@DistributedLock(name = "shop", key = "#id")
		void orderInTransaction(int id) {
			order(id);
		}

		@Transactional(propagation = Propagation.REQUIRES_NEW)
		@DistributedLock(name = "shop", key = "#id")
		void orderInNewTransaction(int id) {
			order(id);
		}

		@DistributedLock(name = "shop", key = "#ids", onLost = OnLost.IGNORE)
		void orderIgnoringLosses(List<Integer> ids) {
			order(ids.get(0));
		}

	}

	static class LossExceptions implements LockListener {

		private final List<LockKey> keys = new CopyOnWriteArrayList<>();

		@Override
		public void onLost(LockLease lease, LossReason reason) {
			this.keys.addAll(lease.keys());
		}

		/** Returns how often the key was lost, after at least one loss. */
		long of(LockKey key) {
			await().atMost(PATIENCE).until(() -> this.keys.contains(key));
			return this.keys.stream().filter(key::equals).count();
		}

	}

}
