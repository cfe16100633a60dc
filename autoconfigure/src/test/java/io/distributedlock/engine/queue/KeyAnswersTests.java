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
import static org.mockito.Mockito.mock;

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
		KeyRequest head = arrived();
		assertThat(end(this.refused, false, head)).isSameAs(this.refused);
		assertThat(end(this.late, true, head))
			.hasMessageContaining("has no connection; an earlier attempt failed: it refuses connections")
			.hasCause(this.refused)
			.hasSuppressedException(this.late)
			.isInstanceOfSatisfying(LockProviderException.class, (ex) -> assertThat(ex.isEffectUnknown()).isFalse());
	}

	@Test
	void reasonIsNotLostByAttemptsThatWereCut() {
		KeyRequest head = arrived();
		end(this.refused, false, head);
		end(this.late, true, head);
		assertThat(end(this.late, true, head)).hasCause(this.refused)
			.hasMessageNotContaining("an earlier attempt failed: it has no connection");
	}

	@Test
	void attemptThatWasNotSentTellsTheReasonOfAnEarlierOne() {
		KeyRequest head = arrived();
		end(this.refused, false, head);
		LockProviderException unsent = failure(LockError.STORE_TIMEOUT, "has not answered", this.late);
		StoreAttempt prepared = new StoreAttempt(mock(), OwnerId.random(), head, true, 0);
		assertThat(end(unsent, prepared, head)).hasCause(this.refused);
	}

	@Test
	void attemptWithItsFullTimeTellsItsOwnFailure() {
		KeyRequest head = arrived();
		end(this.refused, false, head);
		assertThat(end(this.late, false, head)).isSameAs(this.late);
	}

	@Test
	void failureThatHasACauseTellsIt() {
		KeyRequest head = arrived();
		end(this.refused, false, head);
		LockProviderException explained = failure(LockError.STORE_TIMEOUT, "has no connection", this.late);
		assertThat(end(explained, true, head)).isSameAs(explained);
	}

	@Test
	void sameProblemIsToldOnce() {
		KeyRequest head = arrived();
		LockProviderException first = failure(LockError.STORE_TIMEOUT, "has no connection", null);
		end(first, false, head);
		assertThat(end(this.late, true, head)).isSameAs(this.late);
	}

	@Test
	void reasonFromBeforeARequestIsNotToldToIt() {
		end(this.refused, false, arrived());
		KeyRequest head = arrived();
		assertThat(end(this.late, true, head)).isSameAs(this.late);
	}

	@Test
	void reasonFromBeforeAnAnswerIsNotTold() {
		KeyRequest head = arrived();
		end(this.refused, false, head);
		this.answers.record(null, new QueueMutex());
		assertThat(end(this.late, true, head)).isSameAs(this.late);
	}

	private KeyRequest arrived() {
		LockTerms terms = LockTerms.of(LockRequest.of(KEY), LockSettings.defaults());
		WaitBudget budget = WaitBudget.of(Duration.ofSeconds(5), Duration.ofSeconds(1), 0);
		KeyRequest request = new KeyRequest(mock(), mock(), KEY, terms, budget, new NoDriver(), true, null);
		this.answers.recordArrival(request);
		return request;
	}

	private Throwable end(LockProviderException failure, boolean cut, KeyRequest head) {
		StoreAttempt attempt = new StoreAttempt(mock(), OwnerId.random(), head, true, 0);
		attempt.beginSend(mock(), 0, 0, cut);
		return end(failure, attempt, head);
	}

	private Throwable end(LockProviderException failure, StoreAttempt attempt, KeyRequest head) {
		RequestOutcome outcome = this.answers.recordFailure(new AttemptFailure(failure, false), attempt, head,
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
