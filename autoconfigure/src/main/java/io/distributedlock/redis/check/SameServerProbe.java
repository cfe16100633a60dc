package io.distributedlock.redis.check;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockProviderException;
import io.distributedlock.redis.script.ScriptCall;
import io.distributedlock.redis.script.ScriptReply;

/**
 * Scripts for several keys that one server has to run, and the question which server has
 * run each. The id of a server also changes when it restarts or a replica is promoted, so
 * a difference has to be seen in two rounds. Safe for use by many threads.
 */
final class SameServerProbe {

	private final IntFunction<ScriptCall> scripts;

	private final Function<ScriptReply, String> server;

	private final Function<Set<String>, LockConfigurationException> refusal;

	private volatile boolean done;

	/** The server that ran each script; guarded by the monitor. */
	private final @Nullable String[] servers;

	/** The number of this round, whose replies count; guarded by the monitor. */
	private int round;

	/** Whether the round before found several servers; guarded by the monitor. */
	private boolean suspicious;

	/**
	 * Creates a probe.
	 * @param size the number of scripts
	 * @param scripts creates a script by its number
	 * @param server identifies the server by the reply to a script, or refuses it
	 * @param refusal creates the exception for several servers
	 */
	SameServerProbe(int size, IntFunction<ScriptCall> scripts, Function<ScriptReply, String> server,
			Function<Set<String>, LockConfigurationException> refusal) {
		this.servers = new String[size];
		this.scripts = scripts;
		this.server = server;
		this.refusal = refusal;
	}

	boolean isDone() {
		return this.done;
	}

	/** Ends the probe: it is known that there is nothing to refuse. */
	void end() {
		this.done = true;
	}

	/**
	 * Returns the scripts to be run together now, the first time one alone.
	 * @param onFailure handles the failure of a script, or throws it
	 * @return the scripts, none if one server runs them all
	 * @throws LockConfigurationException if several servers have run them
	 */
	synchronized List<CheckScript> next(Consumer<LockProviderException> onFailure) {
		if (!this.done && Arrays.stream(this.servers).allMatch(Objects::nonNull)) {
			endRound();
		}
		if (this.done) {
			return List.of();
		}
		// The first one alone shows whether the server accepts the script.
		boolean begun = Arrays.stream(this.servers).anyMatch(Objects::nonNull);
		return IntStream.range(0, this.servers.length)
			.filter((number) -> begun ? this.servers[number] == null : number == 1)
			.mapToObj((number) -> step(number, onFailure))
			.toList();
	}

	private void endRound() {
		Set<String> found = Arrays.stream(this.servers).map(Objects::requireNonNull).collect(Collectors.toSet());
		boolean refused = found.size() > 1 && this.suspicious;
		this.done = found.size() == 1;
		this.suspicious = !this.done && !refused;
		this.round++;
		Arrays.fill(this.servers, null);
		if (refused) {
			throw this.refusal.apply(found);
		}
	}

	private CheckScript step(int number, Consumer<LockProviderException> onFailure) {
		int asked = this.round;
		return new CheckScript(this.scripts.apply(number), (reply) -> record(asked, number, reply), onFailure);
	}

	private void record(int asked, int number, ScriptReply reply) {
		try {
			record(asked, number, this.server.apply(reply));
		}
		catch (LockConfigurationException ex) {
			forget(asked);
			throw ex;
		}
	}

	private synchronized void record(int asked, int number, String found) {
		if (asked == this.round) {
			this.servers[number] = found;
		}
	}

	/**
	 * Begins again after a reply that is refused: its script alone, asked again, could
	 * reach the server of the others by chance.
	 */
	private synchronized void forget(int asked) {
		if (asked == this.round) {
			this.round++;
			this.suspicious = false;
			Arrays.fill(this.servers, null);
		}
	}

}
