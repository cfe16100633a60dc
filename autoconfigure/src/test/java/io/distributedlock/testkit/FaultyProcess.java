package io.distributedlock.testkit;

import io.distributedlock.support.LockTemplate;

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
