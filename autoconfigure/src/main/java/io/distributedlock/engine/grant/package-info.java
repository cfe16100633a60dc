/**
 * Grants of the store and the holds of them.
 */
@NullMarked
package io.distributedlock.engine.grant;

import org.jspecify.annotations.NullMarked;
