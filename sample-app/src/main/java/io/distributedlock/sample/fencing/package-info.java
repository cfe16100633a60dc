/**
 * Recipes for resources that refuse the late writes of holders whose lease has passed.
 */
@NullMarked
package io.distributedlock.sample.fencing;

import org.jspecify.annotations.NullMarked;
