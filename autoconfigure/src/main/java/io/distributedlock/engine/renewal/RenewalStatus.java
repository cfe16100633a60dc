package io.distributedlock.engine.renewal;

import java.time.Duration;

/**
 * How well the renewals of one engine keep up.
 *
 * @param lag for how long the most overdue renewal has been due; zero if none is
 * @param failures how many calls to renew locks have failed since the last one that the
 * same node of the store answered
 * @since 0.1.0
 */
public record RenewalStatus(Duration lag, int failures) {
}
