package io.distributedlock.redis.check;

import io.distributedlock.provider.Deadline;

/**
 * Server behind a proxy that has replied.
 *
 * @param runId the id of its process
 * @param at when it replied
 */
record ServerIdentity(String runId, Deadline at) {

}
