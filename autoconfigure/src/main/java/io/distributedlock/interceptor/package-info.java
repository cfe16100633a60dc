/**
 * Declarative locking around method calls: which methods are locked, under which keys,
 * and what happens when a lock is busy or lost.
 */
@NullMarked
package io.distributedlock.interceptor;

import org.jspecify.annotations.NullMarked;
