/**
 * SpEL expressions of the annotations: which keys they may give, and what is refused.
 */
@NullMarked
package io.distributedlock.interceptor.expression;

import org.jspecify.annotations.NullMarked;
