/**
 * Entries of the logging context of SLF4J for work under a lock.
 */
@NullMarked
package io.distributedlock.slf4j;

import org.jspecify.annotations.NullMarked;
