/**
 * Meters for locks, tagged with their names and never with their keys.
 */
@NullMarked
package io.distributedlock.micrometer;

import org.jspecify.annotations.NullMarked;
