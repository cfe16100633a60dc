/**
 * Renews grants in batches.
 */
@NullMarked
package io.distributedlock.engine.renewal;

import org.jspecify.annotations.NullMarked;
