/**
 * Spring Boot's way in: properties, conditions and beans for everything else.
 */
@NullMarked
package io.distributedlock.autoconfigure;

import org.jspecify.annotations.NullMarked;
