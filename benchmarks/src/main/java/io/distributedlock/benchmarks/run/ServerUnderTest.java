package io.distributedlock.benchmarks.run;

import io.distributedlock.benchmarks.scenario.SharedMemory;
import io.distributedlock.benchmarks.server.StoreServer;

/**
 * A server with the JVMs that use it.
 *
 * @param server the server
 * @param workers the JVMs
 * @param memory the memory that they share
 */
record ServerUnderTest(StoreServer server, WorkerPool workers, SharedMemory memory) {
}
