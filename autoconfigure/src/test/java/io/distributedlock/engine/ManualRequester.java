package io.distributedlock.engine;

import io.distributedlock.LockException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.grant.RequestOutcome;
import io.distributedlock.engine.queue.KeyRequest;
import io.distributedlock.engine.queue.RequestRunner;
import io.distributedlock.engine.queue.RunningRequest;

/** A requester that takes a step when the test says so. */
final class ManualRequester implements RequestRunner {

	final KeyRequest request;

	private final boolean mayBlock;

	private volatile boolean signalled;

	private boolean failed;

	ManualRequester(LockEngine engine, LockRequest request, boolean mayBlock) {
		this.mayBlock = mayBlock;
		this.request = (KeyRequest) engine.request(request.keys(), request, this);
	}

	@Override
	public void signal() {
		this.signalled = true;
	}

	boolean isSignalled() {
		return this.signalled;
	}

	boolean hasFailed() {
		return this.failed || !stepOrFail() && this.failed;
	}

	@Override
	public String requester() {
		return "test";
	}

	@Override
	public boolean mayBlock() {
		return this.mayBlock;
	}

	boolean step() {
		return this.request.step() == RunningRequest.Progress.ACQUIRED;
	}

	boolean stepOrFail() {
		try {
			return step();
		}
		catch (LockException ex) {
			this.failed = true;
			return false;
		}
	}

	boolean isHeld() {
		return this.request.outcome() instanceof RequestOutcome.Acquired acquired && acquired.hold().isHeld();
	}

	void release() {
		this.request.lease().close();
	}

}
