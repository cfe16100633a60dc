/**
 * Configures health, endpoint, meters, observations, and the MDC.
 */
@NullMarked
package io.distributedlock.autoconfigure.observe;

import org.jspecify.annotations.NullMarked;
