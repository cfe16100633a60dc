/**
 * The control process, which has the database, starts the workers and shows their
 * results.
 */
@NullMarked
package io.distributedlock.sample.control;

import org.jspecify.annotations.NullMarked;
