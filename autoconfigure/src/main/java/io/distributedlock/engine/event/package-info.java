/**
 * Tells observers, listeners, and the log what happens to locks.
 */
@NullMarked
package io.distributedlock.engine.event;

import org.jspecify.annotations.NullMarked;
