package io.distributedlock.benchmarks.server;

import java.util.OptionalLong;

/**
 * The counters of a server.
 *
 * @param commands commands, statements or requests that it has executed, those of scripts
 * included; empty if the server does not count them
 * @param writes changes to its data; empty if the server does not count them
 */
public record Counters(OptionalLong commands, OptionalLong writes) {

	/** Returns what was counted since an earlier moment. */
	public Counters since(Counters before) {
		return new Counters(difference(this.commands, before.commands), difference(this.writes, before.writes));
	}

	private static OptionalLong difference(OptionalLong now, OptionalLong before) {
		return (now.isPresent() && before.isPresent()) ? OptionalLong.of(now.getAsLong() - before.getAsLong())
				: OptionalLong.empty();
	}

}
