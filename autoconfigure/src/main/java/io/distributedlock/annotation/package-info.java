/**
 * The annotation that locks methods, and the one class that reads it.
 */
@NullMarked
package io.distributedlock.annotation;

import org.jspecify.annotations.NullMarked;
