/**
 * Releases that are repeated until the store has answered.
 */
@NullMarked
package io.distributedlock.engine.release;

import org.jspecify.annotations.NullMarked;
