package io.distributedlock.testkit;

import io.distributedlock.engine.LockTemplate;

/**
 * Process of the fault contract that reaches its store through a {@link TcpProxy}.
 */
public final class FaultyProcess {

	private final ContractProcess process;

	private final CommandLog log;

	FaultyProcess(ContractProcess process, CommandLog log) {
		this.process = process;
		this.log = log;
	}

	/**
	 * Returns the process, to send single commands.
	 * @return the process
	 */
	public ContractProcess process() {
		return this.process;
	}

	/**
	 * Returns the process's engine.
	 * @return the engine
	 */
	public LockTemplate locks() {
		return this.process.locks();
	}

	CommandLog log() {
		return this.log;
	}

}
