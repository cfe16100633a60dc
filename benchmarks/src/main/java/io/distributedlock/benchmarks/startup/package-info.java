/**
 * The cost of the auto-configuration at the start of an application without locks.
 */
@NullMarked
package io.distributedlock.benchmarks.startup;

import org.jspecify.annotations.NullMarked;
