package io.distributedlock.support;

/**
 * A process of a fault contract.
 *
 * @param process the process
 * @param log what it sent
 */
record FaultyProcess(ContractProcess process, CommandLog log) {

	LockTemplate locks() {
		return this.process.locks();
	}

}
