/**
 * Transactions of a database that refuse a holder whose lock has passed to another.
 */
@NullMarked
package io.distributedlock.fencing;

import org.jspecify.annotations.NullMarked;
