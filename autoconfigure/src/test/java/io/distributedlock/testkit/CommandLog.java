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

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.provider.StoreCall;

/**
 * Provider that records each command with its outcome and duration.
 */
final class CommandLog implements LockProvider {

	private static final String ABANDONED = "abandoned";

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

	private <T> StoreCall<T> log(Kind kind, Set<OwnerId> owners, Supplier<StoreCall<T>> command) {
		long start = System.nanoTime();
		return StoreCalls.watched(command.get(), (result, failure) -> this.calls
			.add(new Call(kind, owners, outcome(kind, result, failure), ContractSupport.since(start))));
	}

	private static Object outcome(Kind kind, @Nullable Object result, @Nullable RuntimeException failure) {
		if (result != null) {
			return result;
		}
		if (failure != null) {
			return failure;
		}
		return (kind == Kind.RELEASE || kind == Kind.WITHDRAWAL) ? ReleaseOutcome.UNKNOWN : ABANDONED;
	}

	@Override
	public String name() {
		return this.provider.name();
	}

	@Override
	public boolean isBlocking() {
		return this.provider.isBlocking();
	}

	@Override
	public Object node(LockKey key) {
		return this.provider.node(key);
	}

	@Override
	public LockContender newContender(LockKey key, Runnable onNotified) {
		LockContender contender = this.provider.newContender(key, onNotified);
		return new LockContender() {

			@Override
			public StoreCall<AttemptResult> attempt(OwnerId owner, Duration lease, boolean willWait, Duration timeout) {
				return log(Kind.ATTEMPT, Set.of(owner), () -> contender.attempt(owner, lease, willWait, timeout));
			}

			@Override
			public StoreCall<AttemptResult> attemptBlocking(OwnerId owner, Duration lease, boolean willWait,
					Duration timeout) {
				return log(Kind.ATTEMPT, Set.of(owner),
						() -> contender.attemptBlocking(owner, lease, willWait, timeout));
			}

			@Override
			public StoreCall<ReleaseOutcome> withdraw(Duration timeout) {
				return log(Kind.WITHDRAWAL, Set.of(), () -> contender.withdraw(timeout));
			}

			@Override
			public void close() {
				contender.close();
			}

		};
	}

	@Override
	public StoreCall<Map<LockGrant, RenewalOutcome>> renew(Map<LockGrant, Duration> leases, Duration timeout) {
		return log(Kind.RENEWAL, leases.keySet().stream().map(LockGrant::owner).collect(Collectors.toSet()),
				() -> this.provider.renew(leases, timeout));
	}

	@Override
	public boolean supportsMinHold() {
		return this.provider.supportsMinHold();
	}

	@Override
	public StoreCall<ReleaseOutcome> release(LockKey key, OwnerId owner, Duration keepFor, Duration timeout) {
		return log(Kind.RELEASE, Set.of(owner), () -> this.provider.release(key, owner, keepFor, timeout));
	}

	@Override
	public void check(Duration timeout) {
		this.provider.check(timeout);
	}

	/** Purpose of a command. */
	public enum Kind {

		ATTEMPT, RENEWAL, RELEASE, WITHDRAWAL

	}

	/**
	 * Command that has ended.
	 *
	 * @param outcome the result or the failure; an abandoned release is one whose outcome
	 * is unknown
	 */
	record Call(Kind kind, Set<OwnerId> owners, Object outcome, Duration took) {
	}

}
