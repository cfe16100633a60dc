package io.distributedlock.testkit;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Timeout;

import io.distributedlock.provider.LockProvider;

/**
 * Contract of a {@link LockProvider}: the promises that each store keeps, as tests.
 * <p>
 * To test a provider, extend this class, implement {@link #createFixture()} and run the
 * class with JUnit. All tests run against the store itself, each with a fixture of its
 * own. The tests with the tag {@code soak} take minutes: exclude the tag from the usual
 * build. With the system property {@code distributed-lock.contract.hand-off=false} the
 * engines hand no lock off. A test that a store cannot keep in its general form may be
 * overridden, with a test of the same promise in the store's own form. A provider with a
 * server extends {@link LockProviderFaultContract} too.
 * <p>
 * The parts, each an interface of this package that begins with the given word:
 * <ul>
 * <li><b>Grant</b> (commands): a key has one owner at a time, the orders of its grants
 * rise over release, expiry and withdrawal, a lease never ends early, and a repeated
 * attempt of an owner returns its own grant.</li>
 * <li><b>Owner</b> (commands): only the owner of a grant releases or renews it, only
 * until it expires; a batch of renewals has an outcome for each grant.</li>
 * <li><b>Reservation</b> (commands): a release reserves the key for the first queued
 * process for a short grace; grant and withdrawal remove the entry; a dead process costs
 * one grace.</li>
 * <li><b>Key</b> (commands): different keys are different locks, whatever characters and
 * length they have, and no key is evaluated.</li>
 * <li><b>Exclusion</b> (engine): bodies under one key never overlap, fencing tokens rise
 * from holder to holder, and a queued process is not overtaken again and again.</li>
 * <li><b>Wait</b> (engine): a wait ends within its wait time or with the lock within one
 * poll after release or expiry, and an uncontended lock costs two commands.</li>
 * <li><b>Lease</b> (engine): renewal keeps a lease until its release or its longest hold,
 * and a handle releases once and only its own grant.</li>
 * <li><b>Loss</b> (engine): the holder learns of a lost lock by handle, exception,
 * listener and observer, and a stale handle changes nothing.</li>
 * <li><b>Scope</b> (engine): a body runs only under its lock, nested calls join it, and
 * the exception of the body reaches the caller.</li>
 * <li><b>View</b> (engine): {@code asLock} keeps the contract of
 * {@code java.util.concurrent.locks.Lock}.</li>
 * <li><b>Interrupt</b> (engine): an interrupt ends a wait within 250 ms and leaves no
 * entry.</li>
 * <li><b>MultiKey</b> (engine): several keys are acquired all or none, without deadlock,
 * and are lost together.</li>
 * <li><b>Async</b> (engine): a future completes as a call ends, and its cancellation
 * withdraws.</li>
 * <li><b>JavaLock</b> (engine): the view of {@code java.util.concurrent.locks} belongs to
 * its thread, is re-entrant, and follows its interface in waits and interrupts.</li>
 * <li><b>HandOff</b> (engine): a lock goes from thread to thread of a process without the
 * store, and other processes get their turns.</li>
 * <li><b>MinHold</b> (commands and engine): within a shortest hold a key is granted once,
 * whatever becomes of its holder; a store that cannot keep a released key refuses
 * it.</li>
 * <li><b>Shared</b> (commands and engine): shares of a key are granted beside each other
 * and never beside an exclusive grant, permits up to their limit, and a process that
 * waits for the whole key is not starved; a store without shares refuses them.</li>
 * <li><b>Lifecycle</b> (engine): shutdown refuses waiters and keeps running bodies
 * locked, and released keys leave no entry.</li>
 * </ul>
 * The parts marked <i>commands</i> send single commands to the provider, those marked
 * <i>engine</i> use a {@link io.distributedlock.engine.LockTemplate} over it.
 */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
public abstract class LockProviderContract extends AbstractContract
		implements GrantContract, OwnerContract, ReservationContract, KeyContract, ExclusionContract, WaitContract,
		LeaseContract, LossContract, ScopeContract, InterruptContract, MultiKeyContract, AsyncContract,
		JavaLockContract, LifecycleContract, HandOffContract, MinHoldContract, SharedContract {

	@Override
	public final ContractProcess process() {
		return process(fixture().newProcess());
	}

	/** Without faults an answer is late only where the machine is slow. */
	@Override
	final Duration callTimeout() {
		return ContractProcess.TIMEOUT;
	}

}
