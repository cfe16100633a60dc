/**
 * Results as JSON, tables, plots and the page in the documentation.
 */
@NullMarked
package io.distributedlock.benchmarks.report;

import org.jspecify.annotations.NullMarked;
