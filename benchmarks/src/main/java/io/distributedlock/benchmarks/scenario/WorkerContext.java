package io.distributedlock.benchmarks.scenario;

import io.distributedlock.benchmarks.Endpoint;
import io.distributedlock.benchmarks.contender.Contender;
import io.distributedlock.benchmarks.contender.Library;

/**
 * The contender, the server and the shared memory in a JVM of a contender.
 */
public interface WorkerContext {

	/** Returns the library that is measured. */
	Library library();

	/** Returns the server. */
	Endpoint server();

	/** Returns the contender of this JVM, which opens with the first call. */
	Contender contender();

	/** Opens a further contender, as another process would; closed by the caller. */
	Contender openAnother();

	/** Returns the memory that all JVMs of the run share. */
	SharedMemory memory();

}
