/**
 * Costs inside one JVM, measured with JMH.
 */
@NullMarked
package io.distributedlock.benchmarks.inprocess;

import org.jspecify.annotations.NullMarked;
