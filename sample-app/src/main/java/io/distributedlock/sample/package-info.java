/**
 * The sample application.
 */
@NullMarked
package io.distributedlock.sample;

import org.jspecify.annotations.NullMarked;
