package io.distributedlock.chaos;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.function.Predicate;

import io.distributedlock.chaos.HistoryEvent.Kind;
import io.distributedlock.testkit.FrozenProcesses;
import io.distributedlock.testkit.StoreFaults;
import io.distributedlock.testkit.WireFault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Injects the faults of one lane, one after the other: each kind once, then by weight,
 * chosen by the seed. It logs each fault before it begins, and with the evidence of its
 * effect when it is over.
 */
final class FaultInjector implements Callable<Void> {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final Predicate<byte[]> ANY = (packet) -> true;

	private final List<FaultKind> deck = new ArrayList<>();

	private final ChaosRun run;

	private final FaultKind.Lane lane;

	private final Random random;

	/**
	 * Whether some kind has to be injected yet, for which a slow machine takes longer. A
	 * broken build need not meet all of them.
	 */
	private boolean firstRound;

	private int number;

	FaultInjector(ChaosRun run, FaultKind.Lane lane) {
		this.run = run;
		this.lane = lane;
		this.random = new Random(run.settings().seed() + lane.name().hashCode());
		this.firstRound = run.settings().broken() == null;
		this.deck.addAll(run.faults(lane));
		Collections.shuffle(this.deck, this.random);
	}

	@Override
	public Void call() throws InterruptedException, IOException {
		while (this.run.goesOn() || this.firstRound) {
			List<ChaosClient> ready = this.run.clients().stream().filter(ChaosClient::isReady).toList();
			// The choice is the seed's, and not that of the moment.
			ChaosClient client = this.run.clients().get(this.random.nextInt(this.run.clients().size()));
			FaultKind kind = next();
			if (ready.contains(client)) {
				inject(kind, client);
			}
			else {
				this.deck.add(kind);
			}
			this.firstRound &= !this.deck.isEmpty();
			Thread.sleep(200 + this.random.nextInt(1300));
		}
		return null;
	}

	private FaultKind next() {
		if (this.deck.isEmpty()) {
			this.run.faults(this.lane).forEach((kind) -> this.deck.addAll(Collections.nCopies(kind.weight(), kind)));
			Collections.shuffle(this.deck, this.random);
		}
		return this.deck.remove(this.deck.size() - 1);
	}

	private void inject(FaultKind kind, ChaosClient client) throws InterruptedException, IOException {
		String target = switch (kind) {
			case SERVER_STOP, SERVER_RESTART, CONNECTIONS_KILLED -> HistoryEvent.STORE;
			default -> (this.lane == FaultKind.Lane.PROCESSES) ? client.processName() : client.name();
		};
		String id = this.lane + "-" + ++this.number;
		log(Kind.FAULT, target, id, 0, kind.name());
		Effect effect = switch (kind) {
			case KILL -> ended("exit value " + client.kill(), client);
			case SHUTDOWN -> ended("exit value " + client.shutDown(), client);
			case STOP_SHORT -> stop(client.handle(), 200, ChaosRun.LEASE.toMillis() / 2);
			case STOP_LONG -> stop(client.handle(), this.run.bounds().expiry().toMillis() + 500, 1000);
			case INTERRUPT -> {
				long interrupted = client.interrupt();
				yield new Effect(interrupted, interrupted + " threads interrupted");
			}
			case DELAY -> last(client.proxy().onReply(ANY, WireFault.Effect.DELAY).by(millis(50, 250)), 500, 1500);
			case BLACK_HOLE -> last(client.proxy().blackHole(), 300, ChaosRun.LEASE.toMillis() * 4 / 3);
			case LOST_REQUEST -> last(client.proxy().onRequest(ANY, WireFault.Effect.BLACK_HOLE).once(), 1, 1200);
			case LOST_REPLY -> last(client.proxy().onReply(ANY, WireFault.Effect.BLACK_HOLE).once(), 1, 1200);
			case CUT -> last(client.proxy().onReply(ANY, WireFault.Effect.CUT).once(), 1, 1);
			case HALF_CLOSE -> last(client.proxy().onReply(ANY, WireFault.Effect.HALF_CLOSE).once(), 1, 300);
			case SERVER_STOP -> stop(this.run.store().servers().get(server()), 300, 1700);
			case SERVER_RESTART -> restart(server());
			case CONNECTIONS_KILLED -> {
				long killed = this.run.store().killConnections();
				yield new Effect(killed, killed + " connections killed");
			}
		};
		log(Kind.LIFTED, target, id, effect.count(), effect.evidence());
	}

	private Effect ended(String evidence, ChaosClient client) {
		this.run.restart(client);
		return new Effect(1, evidence);
	}

	private Effect stop(ProcessHandle process, long atLeast, long more) throws InterruptedException {
		// It is there once the process is in the state T.
		try (StoreFaults.Fault stopped = FrozenProcesses.freeze(process)) {
			assertThat(stopped).isNotNull();
			Thread.sleep(millis(atLeast, more).toMillis());
		}
		return new Effect(1, "process " + process.pid() + " was in the state T");
	}

	private Effect last(WireFault fault, long atLeast, long more) throws InterruptedException {
		try (fault) {
			await().atMost(PATIENCE).pollInterval(Duration.ofMillis(5)).until(() -> fault.hits() > 0);
			Thread.sleep(millis(atLeast, more).toMillis());
		}
		return new Effect(fault.hits(), fault.hits() + " packets");
	}

	/** One of the servers. */
	private int server() {
		return this.random.nextInt(this.run.store().servers().size());
	}

	private Effect restart(int server) throws IOException {
		long before = this.run.store().servers().get(server).pid();
		this.run.store().restart(server);
		long after = this.run.store().servers().get(server).pid();
		return new Effect((before != after) ? 1 : 0, "process " + before + ", then " + after);
	}

	private Duration millis(long atLeast, long more) {
		return Duration.ofMillis(atLeast + this.random.nextInt(Math.toIntExact(more)));
	}

	private void log(Kind kind, String target, String id, long value, String detail) {
		this.run.log().add(new HistoryEvent(System.nanoTime(), kind, target, id, "", value, detail));
	}

	private record Effect(long count, String evidence) {
	}

}
