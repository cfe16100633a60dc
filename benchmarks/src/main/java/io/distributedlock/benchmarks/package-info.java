/**
 * Words that all parts of the benchmarks share.
 */
@NullMarked
package io.distributedlock.benchmarks;

import org.jspecify.annotations.NullMarked;
