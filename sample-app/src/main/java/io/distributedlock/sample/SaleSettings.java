package io.distributedlock.sample;

import java.time.Duration;

/**
 * Settings of one sale.
 *
 * @param lock whether each sale is guarded by the lock
 * @param fence whether the database refuses the write of a holder whose lock has passed
 * to another
 * @param renew whether the lease is renewed while a customer thinks
 * @param lease how long the store keeps the lock unless it is renewed
 * @param thinkTime how long a customer thinks between seeing a free seat and buying it
 * @param seats how many seats the event has
 */
public record SaleSettings(boolean lock, boolean fence, boolean renew, Duration lease, Duration thinkTime, int seats) {

}
