package io.distributedlock.sample.control;

import java.util.List;
import java.util.stream.Collectors;

/**
 * Result of the sale of one event.
 *
 * @param oversold how many tickets were sold for seats that had been sold before
 * @param sold how many tickets were sold
 * @param capacity how many seats there are
 * @param refused how many writes the fence refused because they came after the end of
 * their lease
 * @param processes the ids of the processes that sold
 */
record SalesResult(int oversold, int sold, int capacity, int refused, List<Long> processes) {

	@Override
	public String toString() {
		String pids = this.processes.stream().map(String::valueOf).collect(Collectors.joining(", "));
		return this.sold + " of " + this.capacity + " seats sold by " + this.processes.size() + " processes (pids "
				+ pids + "): " + outcome();
	}

	/** Returns the result without the processes. */
	String inWords() {
		return this.sold + " of " + this.capacity + " seats sold, " + outcome();
	}

	/** Returns the numbers of tickets and seats as a sentence. */
	String inTickets() {
		return "%d tickets for %d seats: %s.".formatted(this.sold, this.capacity,
				(this.oversold > 0) ? this.oversold + " too many"
						: (this.sold < this.capacity) ? "none was sold twice" : "each seat was sold once");
	}

	private String outcome() {
		return ((this.oversold > 0) ? "oversold by " + this.oversold
				: (this.sold < this.capacity) ? "none twice" : "each seat once")
				+ ((this.refused > 0) ? ", late writes refused: " + this.refused : "");
	}

}
