/**
 * A worker process: sells seats when it is told to.
 */
@NullMarked
package io.distributedlock.sample.worker;

import org.jspecify.annotations.NullMarked;
