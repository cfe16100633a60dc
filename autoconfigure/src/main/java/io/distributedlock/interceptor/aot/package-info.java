/**
 * What a native image has to know of locked methods.
 */
@NullMarked
package io.distributedlock.interceptor.aot;

import org.jspecify.annotations.NullMarked;
