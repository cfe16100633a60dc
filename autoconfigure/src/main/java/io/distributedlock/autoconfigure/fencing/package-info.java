/**
 * Configures fenced transactions.
 */
@NullMarked
package io.distributedlock.autoconfigure.fencing;

import org.jspecify.annotations.NullMarked;
