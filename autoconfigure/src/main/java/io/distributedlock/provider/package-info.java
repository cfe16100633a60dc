/**
 * What a store is written against: the contract of a provider, its results, and the tools
 * that providers share.
 */
@NullMarked
package io.distributedlock.provider;

import org.jspecify.annotations.NullMarked;
