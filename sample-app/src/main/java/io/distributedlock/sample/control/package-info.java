/**
 * The control process: owns the database, starts the workers and shows what they sold.
 */
@NullMarked
package io.distributedlock.sample.control;

import org.jspecify.annotations.NullMarked;
