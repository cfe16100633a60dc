package io.distributedlock.engine.queue;

import java.time.Duration;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.engine.grant.LockTerms;
import io.distributedlock.engine.grant.RequestOutcome;
import io.distributedlock.provider.OwnerId;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a request is told of failures before the last one.
 */
class KeyAnswersTests {

	private static final LockKey KEY = LockKey.of("seats", "13A");

	private final KeyAnswers answers = new KeyAnswers();

	private final LockProviderException refused = failure(LockError.STORE_FAILED, "refuses connections", null);

	private final LockProviderException late = failure(LockError.STORE_TIMEOUT, "has no connection", null);

	@Test
	void attemptThatWasCutTellsTheReasonOfAnEarlierOne() {
		Waiter head = arrived();
		assertThat(end(this.refused, false, head)).isSameAs(this.refused);
		assertThat(end(this.late, true, head))
			.hasMessageContaining("has no connection; an earlier attempt failed: it refuses connections")
			.hasCause(this.refused)
			.hasSuppressedException(this.late)
			.isInstanceOfSatisfying(LockProviderException.class, (ex) -> assertThat(ex.isEffectUnknown()).isFalse());
	}

	@Test
	void reasonIsNotLostByAttemptsThatWereCut() {
		Waiter head = arrived();
		end(this.refused, false, head);
		end(this.late, true, head);
		assertThat(end(this.late, true, head)).hasCause(this.refused)
			.hasMessageNotContaining("an earlier attempt failed: it has no connection");
	}

	@Test
	void attemptThatWasNotSentTellsTheReasonOfAnEarlierOne() {
		Waiter head = arrived();
		end(this.refused, false, head);
		LockProviderException unsent = failure(LockError.STORE_TIMEOUT, "has not answered", this.late);
		StoreAttempt prepared = new StoreAttempt(OwnerId.random(), head, true, 0);
		assertThat(end(unsent, prepared, head)).hasCause(this.refused);
	}

	@Test
	void attemptWithItsFullTimeTellsItsOwnFailure() {
		Waiter head = arrived();
		end(this.refused, false, head);
		assertThat(end(this.late, false, head)).isSameAs(this.late);
	}

	@Test
	void failureThatHasACauseTellsIt() {
		Waiter head = arrived();
		end(this.refused, false, head);
		LockProviderException explained = failure(LockError.STORE_TIMEOUT, "has no connection", this.late);
		assertThat(end(explained, true, head)).isSameAs(explained);
	}

	@Test
	void sameProblemIsToldOnce() {
		Waiter head = arrived();
		LockProviderException first = failure(LockError.STORE_TIMEOUT, "has no connection", null);
		end(first, false, head);
		assertThat(end(this.late, true, head)).isSameAs(this.late);
	}

	@Test
	void reasonFromBeforeARequestIsNotToldToIt() {
		end(this.refused, false, arrived());
		Waiter head = arrived();
		assertThat(end(this.late, true, head)).isSameAs(this.late);
	}

	@Test
	void reasonFromBeforeAnAnswerIsNotTold() {
		Waiter head = arrived();
		end(this.refused, false, head);
		this.answers.record(null, new QueueMutex());
		assertThat(end(this.late, true, head)).isSameAs(this.late);
	}

	private Waiter arrived() {
		LockTerms terms = LockTerms.of(LockRequest.of(KEY), LockSettings.defaults());
		Waiter waiter = new Waiter(KEY, terms, WaitBudget.of(terms, Duration.ofSeconds(1), 0), new NoDriver(), true);
		this.answers.recordArrival(waiter);
		return waiter;
	}

	private Throwable end(LockProviderException failure, boolean cut, Waiter head) {
		StoreAttempt attempt = new StoreAttempt(OwnerId.random(), head, true, 0);
		attempt.beginSend(0, 0, cut, true);
		return end(failure, attempt, head);
	}

	private Throwable end(LockProviderException failure, StoreAttempt attempt, Waiter head) {
		RequestOutcome outcome = this.answers.recordFailure(new AttemptEnd.Failed(failure, false), attempt, head,
				new QueueMutex());
		assertThat(this.answers.latest()).isSameAs(outcome);
		return ((RequestOutcome.Failed) outcome).failure();
	}

	private static LockProviderException failure(LockError error, String problem, @Nullable Throwable cause) {
		return LockProviderException.nothingSent(error, "scripted", problem, cause);
	}

	/** Runner of a request that takes no step. */
	private static final class NoDriver implements RequestRunner {

		@Override
		public void signal() {
		}

		@Override
		public boolean mayBlock() {
			return false;
		}

		@Override
		public String requester() {
			return "test";
		}

	}

}
