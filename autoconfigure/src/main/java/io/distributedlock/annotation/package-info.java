/**
 * The annotations that lock methods, and the class that reads their attributes.
 */
@NullMarked
package io.distributedlock.annotation;

import org.jspecify.annotations.NullMarked;
