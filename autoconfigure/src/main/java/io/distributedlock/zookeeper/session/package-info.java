/**
 * The session that holds the locks: its handle, its deadline, its nodes, and its errors.
 */
@NullMarked
package io.distributedlock.zookeeper.session;

import org.jspecify.annotations.NullMarked;
