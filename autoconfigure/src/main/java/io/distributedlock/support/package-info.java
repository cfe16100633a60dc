/**
 * The engine: waiting, grants, renewal and cleaning up over any store, base classes for
 * providers, and the in-memory provider.
 */
@NullMarked
package io.distributedlock.support;

import org.jspecify.annotations.NullMarked;
