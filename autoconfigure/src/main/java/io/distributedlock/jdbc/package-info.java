/**
 * Locks in a table of a database that the application already has.
 */
@NullMarked
package io.distributedlock.jdbc;

import org.jspecify.annotations.NullMarked;
