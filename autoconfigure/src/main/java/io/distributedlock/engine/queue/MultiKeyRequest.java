package io.distributedlock.engine.queue;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockHolder;
import io.distributedlock.LockKey;
import io.distributedlock.engine.event.AcquireObservation;
import io.distributedlock.engine.grant.EngineLease;
import io.distributedlock.engine.grant.LockTerms;

/**
 * A request for several keys, acquired one after the other in their order, all or none.
 * Locks that are acquired are renewed until the last one is granted; then the hold
 * begins.
 */
public final class MultiKeyRequest implements RunningRequest {

	private final EngineContext engine;

	private final KeyQueueRegistry queues;

	private final List<LockKey> keys;

	private final LockTerms terms;

	private final WaitBudget budget;

	private final RequestRunner runner;

	private final List<EngineLease> acquired = new ArrayList<>();

	private KeyRequest current;

	private final Consumer<MultiKeyRequest> onEnd;

	private @Nullable EngineLease lease;

	/**
	 * Creates a request for several keys.
	 * @param onEnd receives this request when it has ended, and has released what it had
	 * acquired unless it has acquired all
	 */
	public MultiKeyRequest(EngineContext engine, KeyQueueRegistry queues, List<LockKey> keys, LockTerms terms,
			WaitBudget budget, RequestRunner runner, Consumer<MultiKeyRequest> onEnd) {
		this.engine = engine;
		this.queues = queues;
		this.onEnd = onEnd;
		this.keys = keys;
		this.terms = terms;
		this.budget = budget;
		this.runner = runner;
		this.current = request(0, engine.events().acquireStarted(keys.get(0), terms.mode()));
	}

	private KeyRequest request(int index, @Nullable AcquireObservation observation) {
		return new KeyRequest(this.engine, this.queues, this.keys.get(index), this.terms, this.budget, this.runner,
				false, observation);
	}

	@Override
	public Progress step() {
		try {
			while (true) {
				Progress progress = this.current.step();
				if (progress == Progress.BUSY) {
					end();
				}
				if (progress != Progress.ACQUIRED) {
					return progress;
				}
				this.acquired.add(this.current.lease());
				if (this.acquired.size() == this.keys.size()) {
					return complete();
				}
				this.current = next();
			}
		}
		catch (RuntimeException | Error ex) {
			end();
			throw ex;
		}
	}

	private KeyRequest next() {
		AcquireObservation observation = this.current.observation();
		int index = this.acquired.size();
		return request(index, (observation != null) ? observation.startNext(this.keys.get(index)) : null);
	}

	private Progress complete() {
		EngineLease all = EngineLease.of(this.acquired);
		all.ensureHeld(LockError.LOST_WHILE_ACQUIRING);
		long now = this.engine.nanoTime();
		all.grants().forEach((grant) -> this.engine.holdStart().beginRequested(grant, now, this.terms));
		this.lease = all;
		this.onEnd.accept(this);
		return Progress.ACQUIRED;
	}

	/**
	 * Releases what was acquired, in the background, because the budget may be used up or
	 * the thread interrupted.
	 */
	private void end() {
		try {
			if (!this.acquired.isEmpty()) {
				EngineLease.of(this.acquired).closeUnused();
			}
		}
		finally {
			this.acquired.clear();
			this.onEnd.accept(this);
		}
	}

	@Override
	public long waitUntilNanos() {
		return this.current.waitUntilNanos();
	}

	@Override
	public EngineLease lease() {
		return Objects.requireNonNull(this.lease);
	}

	@Override
	public LockKey key() {
		return this.current.key();
	}

	@Override
	public @Nullable LockHolder holder() {
		return this.current.holder();
	}

	@Override
	public void abandon() {
		if (this.lease == null) {
			this.current.abandon();
		}
		end();
	}

}
