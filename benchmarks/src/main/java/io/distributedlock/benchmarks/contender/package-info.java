/**
 * The libraries that are measured, each behind the same small interface.
 */
@NullMarked
package io.distributedlock.benchmarks.contender;

import org.jspecify.annotations.NullMarked;
