package io.distributedlock.redis.check;

import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Supplier;

import io.distributedlock.provider.Deadline;
import io.distributedlock.redis.script.RedisLayout;

/**
 * The check of the servers behind Twemproxy. First whether it keeps the keys of a lock
 * together, and on the server that had them: it may have restarted with another
 * configuration whenever connections broke, so that this is asked again then. Then of the
 * server of each bucket, once, as of the masters of a cluster.
 * <p>
 * Invariant: no attempt is sent before one server has run all scripts of a probe that
 * began after the connections broke last, or with a client that does not tell of that
 * less than {@link #REPETITION} ago.
 */
public final class TwemproxyCheck implements TopologyCheck {

	/** After that time a client that blocks asks again. */
	private static final Duration REPETITION = Duration.ofSeconds(10);

	private final TwemproxyScriptExecutor executor;

	private final RedisLayout layout;

	private final TopologyCheck servers;

	private volatile Round round;

	public TwemproxyCheck(TwemproxyScriptExecutor executor, RedisLayout layout) {
		this.executor = executor;
		this.layout = layout;
		this.servers = new ClusterMastersCheck(executor, layout);
		this.round = newRound();
	}

	@Override
	public boolean isDone(int slot) {
		return probes().of(slot).isDone() && this.servers.isDone(slot);
	}

	@Override
	public Supplier<List<CheckScript>> ofSlot(int slot) {
		return afterProbe(slot, this.servers.ofSlot(slot));
	}

	@Override
	public Supplier<List<CheckScript>> ofAll() {
		return afterProbe(0, this.servers.ofAll());
	}

	private Supplier<List<CheckScript>> afterProbe(int bucket, Supplier<List<CheckScript>> next) {
		return () -> {
			List<CheckScript> steps = probes().of(bucket).next((failure) -> {
				throw failure;
			});
			return steps.isEmpty() ? next.get().stream().map(this::recording).toList() : steps;
		};
	}

	private CheckScript recording(CheckScript step) {
		return new CheckScript(step.script(), (reply) -> {
			this.executor.recordServer(step.script(), ServerInfo.of(reply, 2).runId());
			step.onReply().accept(reply);
		}, step.onFailure());
	}

	private TwemproxyProbes probes() {
		Round current = this.round;
		return isValid(current) ? current.probes : nextProbes();
	}

	private synchronized TwemproxyProbes nextProbes() {
		if (!isValid(this.round)) {
			this.round = newRound();
		}
		return this.round.probes;
	}

	private boolean isValid(Round round) {
		OptionalLong disconnects = this.executor.disconnects();
		return disconnects.isPresent() ? disconnects.equals(round.disconnects) : !round.end.isPast();
	}

	/** Counts the disconnects before the probes begin. */
	private Round newRound() {
		return new Round(this.executor.disconnects(), Deadline.after(REPETITION),
				new TwemproxyProbes(this.executor::seen, this.layout, 0));
	}

	/**
	 * Probes for some time.
	 *
	 * @param disconnects the connections that broke before, if the client tells
	 * @param end the end of that time, if it does not
	 */
	private record Round(OptionalLong disconnects, Deadline end, TwemproxyProbes probes) {

	}

}
