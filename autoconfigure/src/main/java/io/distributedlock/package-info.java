/**
 * The vocabulary of distributed locking: what applications call and what providers
 * implement.
 */
@NullMarked
package io.distributedlock;

import org.jspecify.annotations.NullMarked;
