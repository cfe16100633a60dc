/**
 * What differs between the databases: statements, errors, and the format of a row.
 */
@NullMarked
package io.distributedlock.jdbc.dialect;

import org.jspecify.annotations.NullMarked;
