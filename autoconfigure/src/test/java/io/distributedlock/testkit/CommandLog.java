package io.distributedlock.testkit;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.distributedlock.LockKey;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;

/**
 * Provider that records each command with its outcome and duration.
 */
final class CommandLog implements LockProvider {

	private final LockProvider provider;

	private final Queue<Call> calls = new ConcurrentLinkedQueue<>();

	CommandLog(LockProvider provider) {
		this.provider = provider;
	}

	void clear() {
		this.calls.clear();
	}

	Stream<Call> calls(Kind kind) {
		return this.calls.stream().filter((call) -> call.kind() == kind);
	}

	List<Object> outcomes(Kind kind) {
		return calls(kind).map(Call::outcome).toList();
	}

	Duration longest(Kind kind) {
		return calls(kind).map(Call::took).max(Duration::compareTo).orElse(Duration.ZERO);
	}

	private <T> T log(Kind kind, Set<OwnerId> owners, Supplier<T> command) {
		long start = System.nanoTime();
		try {
			T outcome = command.get();
			this.calls.add(new Call(kind, owners, outcome, ContractSupport.since(start)));
			return outcome;
		}
		catch (RuntimeException ex) {
			this.calls.add(new Call(kind, owners, ex, ContractSupport.since(start)));
			throw ex;
		}
	}

	@Override
	public String name() {
		return this.provider.name();
	}

	@Override
	public LockContender newContender(LockKey key, Runnable onNotified) {
		LockContender contender = this.provider.newContender(key, onNotified);
		return new LockContender() {

			@Override
			public AttemptResult attempt(OwnerId owner, Duration lease, boolean willWait, Duration timeout) {
				return log(Kind.ATTEMPT, Set.of(owner), () -> contender.attempt(owner, lease, willWait, timeout));
			}

			@Override
			public ReleaseOutcome withdraw(Duration timeout) {
				return log(Kind.WITHDRAWAL, Set.of(), () -> contender.withdraw(timeout));
			}

		};
	}

	@Override
	public Map<LockGrant, RenewalOutcome> renew(Map<LockGrant, Duration> leases, Duration timeout) {
		return log(Kind.RENEWAL, leases.keySet().stream().map(LockGrant::owner).collect(Collectors.toSet()),
				() -> this.provider.renew(leases, timeout));
	}

	@Override
	public ReleaseOutcome release(LockKey key, OwnerId owner, Duration timeout) {
		return log(Kind.RELEASE, Set.of(owner), () -> this.provider.release(key, owner, timeout));
	}

	@Override
	public void check(Duration timeout) {
		this.provider.check(timeout);
	}

	/** Purpose of a command. */
	enum Kind {

		ATTEMPT, RENEWAL, RELEASE, WITHDRAWAL

	}

	/**
	 * Completed command.
	 *
	 * @param outcome the result, or the exception thrown
	 */
	record Call(Kind kind, Set<OwnerId> owners, Object outcome, Duration took) {
	}

}
