/**
 * Where connections come from, and calls over them that end in time.
 */
@NullMarked
package io.distributedlock.jdbc.connection;

import org.jspecify.annotations.NullMarked;
