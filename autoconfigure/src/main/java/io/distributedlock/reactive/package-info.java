/**
 * Locks in reactive flows of work, which wait and hold them without a thread. Used where
 * the application has Reactor.
 */
@NullMarked
package io.distributedlock.reactive;

import org.jspecify.annotations.NullMarked;
