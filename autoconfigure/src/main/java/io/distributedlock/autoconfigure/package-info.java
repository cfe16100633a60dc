/**
 * Auto-configuration for Spring Boot: properties, beans that back off, and failure
 * analysis.
 */
@NullMarked
package io.distributedlock.autoconfigure;

import org.jspecify.annotations.NullMarked;
