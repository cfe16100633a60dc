/**
 * Providers without a store: one keeps locks in this JVM, one locks nothing.
 */
@NullMarked
package io.distributedlock.local;

import org.jspecify.annotations.NullMarked;
