/**
 * Configures locks in a database.
 */
@NullMarked
package io.distributedlock.autoconfigure.jdbc;

import org.jspecify.annotations.NullMarked;
