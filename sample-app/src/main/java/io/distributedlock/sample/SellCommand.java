package io.distributedlock.sample;

/**
 * Command of the control process to its workers, sent as one line of JSON.
 *
 * @param eventId the event to sell out
 * @param settings the settings of the sale
 */
public record SellCommand(int eventId, SaleSettings settings) {

}
