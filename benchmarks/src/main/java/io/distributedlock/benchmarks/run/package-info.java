/**
 * The command: starts servers and JVMs, lets the contenders take turns, and gathers
 * figures.
 */
@NullMarked
package io.distributedlock.benchmarks.run;

import org.jspecify.annotations.NullMarked;
