/**
 * Checks, at start and at the first call, that the methods of a bean run under their
 * lock.
 */
@NullMarked
package io.distributedlock.interceptor.verify;

import org.jspecify.annotations.NullMarked;
