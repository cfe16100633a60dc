/**
 * Locks that are row locks of the database, held by an open transaction each.
 */
@NullMarked
package io.distributedlock.jdbc.rowlock;

import org.jspecify.annotations.NullMarked;
