/**
 * The contract of a store, its results, and the tools that providers share.
 */
@NullMarked
package io.distributedlock.provider;

import org.jspecify.annotations.NullMarked;
