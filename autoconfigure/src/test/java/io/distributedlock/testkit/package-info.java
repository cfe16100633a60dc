/**
 * Contract kit: tests that each store's provider has to pass.
 */
@NullMarked
package io.distributedlock.testkit;

import org.jspecify.annotations.NullMarked;
