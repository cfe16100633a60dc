/**
 * The servers that a run starts, and what they count.
 */
@NullMarked
package io.distributedlock.benchmarks.server;

import org.jspecify.annotations.NullMarked;
