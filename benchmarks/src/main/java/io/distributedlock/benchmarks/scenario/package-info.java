/**
 * What is measured.
 */
@NullMarked
package io.distributedlock.benchmarks.scenario;

import org.jspecify.annotations.NullMarked;
