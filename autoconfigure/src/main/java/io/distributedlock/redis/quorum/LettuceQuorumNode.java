package io.distributedlock.redis.quorum;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.regex.Pattern;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.resource.ClientResources;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;
import io.distributedlock.redis.script.RedisErrors;
import io.distributedlock.redis.script.RedisTimer;
import io.distributedlock.redis.script.ReplyHandler;
import io.distributedlock.redis.script.ScriptCall;
import io.distributedlock.redis.script.ScriptReply;

/**
 * Node of a quorum over connections of Lettuce that are never opened again by themselves:
 * each new one asks the server what it is before anything else. A connection is opened
 * when a script needs it; after a failure not before a pause.
 */
final class LettuceQuorumNode implements QuorumNode {

	/** How long the opening of a connection may take. */
	private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(2);

	private static final Duration SHORTEST_PAUSE = Duration.ofMillis(20);

	private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

	private final RedisQuorumNode address;

	private final RedisURI uri;

	private final RedisClient client;

	private final QuorumNodeCheck check;

	private final Function<NodeConnection, CompletableFuture<?>> entrance;

	private final RestartedNodeRule admission;

	private final RedisTimer timer;

	private final QuorumNodeState state;

	/** The present connection; guarded by the monitor. */
	private @Nullable ReopeningConnection link;

	/** The connections in a row that failed; guarded by the monitor. */
	private int failures;

	private volatile long connections;

	private volatile boolean closed;

	private volatile @Nullable CompletableFuture<?> end;

	/**
	 * Creates a node without a connection.
	 * @param admission what the nodes of the quorum know of each other
	 * @param entrance makes a server that has run for long enough a member of the quorum
	 */
	LettuceQuorumNode(RedisQuorumNode address, ClientResources resources, QuorumNodeCheck check,
			RestartedNodeRule admission, Function<NodeConnection, CompletableFuture<?>> entrance, RedisTimer timer) {
		this.address = address;
		this.uri = RedisURI.builder(address.uri()).withTimeout(CONNECT_TIMEOUT).build();
		this.check = check;
		this.admission = admission;
		this.entrance = entrance;
		this.timer = timer;
		this.state = new QuorumNodeState(address.name());
		this.client = RedisClient.create(resources);
		ClientOptions.Builder options = ClientOptions.builder()
			.autoReconnect(false)
			.disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
			.socketOptions(SocketOptions.builder().connectTimeout(CONNECT_TIMEOUT).keepAlive(true).build());
		if (address.sslOptions() != null) {
			options.sslOptions(address.sslOptions());
		}
		this.client.setOptions(options.build());
	}

	@Override
	public String name() {
		return this.address.name();
	}

	@Override
	public String state() {
		return this.state.text();
	}

	@Override
	public long connections() {
		return this.connections;
	}

	@Override
	public boolean isBlocking() {
		return false;
	}

	@Override
	public int slot(byte[] key) {
		return 0;
	}

	@Override
	public @Nullable Object node(int slot) {
		return null;
	}

	@Override
	public Object client() {
		return this.client;
	}

	@Override
	public void run(ScriptCall call, CallKind kind, Deadline deadline, ReplyHandler<?> operation) {
		operation.recordQueued();
		RestartedNodeRule.Refusal refusal = this.admission.refusalByOthers(this);
		if (refusal != null && kind != CallKind.RELEASE) {
			operation.fail(LockProviderException.nothingSent(refusal.reason().error(), RedisErrors.PROVIDER,
					"is not used, since " + refusal.node() + " refuses this process", refusal.reason()));
			return;
		}
		link().whenReady((connection, failure) -> {
			if (connection != null) {
				connection.run(call, deadline, operation);
			}
			else {
				LockProviderException restarted = this.state.restartFailure();
				operation.fail((restarted != null) ? restarted : notSent(name(), failure));
			}
		});
	}

	/** Returns a connection to a server that has run for long enough. */
	CompletableFuture<NodeConnection> asked() {
		return link().asked();
	}

	private ReopeningConnection link() {
		ReopeningConnection present;
		ReopeningConnection begun;
		synchronized (this) {
			present = this.link;
			if (present != null && !present.isOver()) {
				return present;
			}
			begun = new ReopeningConnection();
			this.link = begun;
			this.connections++;
		}
		if (present != null) {
			present.close();
		}
		begin(begun);
		return begun;
	}

	private void begin(ReopeningConnection link) {
		if (this.closed) {
			link.fail(RedisErrors.closed(null), Duration.ofDays(1));
			return;
		}
		try {
			this.client.connectAsync(ByteArrayCodec.INSTANCE, this.uri).whenComplete((opened, failure) -> {
				if (opened == null) {
					fail(link, failure);
					return;
				}
				NodeConnection connection = new NodeConnection(opened);
				link.open(connection);
				if (this.closed) {
					fail(link, RedisErrors.closed(null));
					return;
				}
				ask(link, connection);
			});
		}
		catch (RuntimeException ex) {
			fail(link, ex);
		}
	}

	private void ask(ReopeningConnection link, NodeConnection connection) {
		Future<?> expiry = this.timer.schedule(connection::close, CONNECT_TIMEOUT.toNanos());
		connection.run(this.check.script()).whenComplete((reply, failure) -> {
			if (expiry != null) {
				expiry.cancel(false);
			}
			if (reply == null) {
				fail(link, QuorumNodeCheck.failure(name(), failure));
				return;
			}
			try {
				enter(link, connection, identity(reply));
			}
			catch (RuntimeException ex) {
				fail(link, ex);
			}
		});
	}

	private QuorumNodeCheck.Identity identity(ScriptReply reply) {
		try {
			QuorumNodeCheck.Identity identity = this.check.check(name(), reply);
			this.admission.clearRefusal(this);
			return identity;
		}
		catch (LockConfigurationException ex) {
			if (ex.error() == LockError.INVALID_PROPERTY) {
				this.admission.recordRefusal(this, ex);
			}
			throw ex;
		}
	}

	private void enter(ReopeningConnection link, NodeConnection connection, QuorumNodeCheck.Identity identity) {
		if (!identity.missing().isZero()) {
			RestartDelay delay = new RestartDelay(identity.missing());
			this.state.recordRestarted(delay);
			link.fail(delay.failure(), identity.missing());
			return;
		}
		connection.identify(identity.runId());
		this.admission.admit(this, connection);
		link.asked().complete(connection);
		if (identity.member()) {
			complete(link, connection);
			return;
		}
		this.entrance.apply(connection).whenComplete((done, failure) -> {
			if (failure != null) {
				LockProviderException told = notSent(name(), cause(failure));
				this.state.recordDown("down: " + told.problem());
				link.refuse(told, LONGEST_PAUSE);
			}
			else {
				complete(link, connection);
			}
		});
	}

	private void complete(ReopeningConnection link, NodeConnection connection) {
		synchronized (this) {
			this.failures = 0;
		}
		this.state.recordUp();
		link.complete(connection);
	}

	private void fail(ReopeningConnection link, Throwable failure) {
		Throwable cause = cause(failure);
		Duration pause;
		synchronized (this) {
			pause = SHORTEST_PAUSE.multipliedBy(1L << Math.min(this.failures, 6));
			this.failures++;
		}
		LockProviderException told = notSent(name(), cause);
		if (!this.closed) {
			this.state.recordDown((cause instanceof LockConfigurationException refused)
					? QuorumNodeCheck.refused(name(), refused) + ". " + refused.action() : "down: " + told.problem());
		}
		link.fail(told, (pause.compareTo(LONGEST_PAUSE) < 0) ? pause : LONGEST_PAUSE);
	}

	private static Throwable cause(Throwable failure) {
		return (failure instanceof CompletionException && failure.getCause() != null) ? failure.getCause() : failure;
	}

	private static LockProviderException notSent(String node, Throwable failure) {
		if (failure instanceof LockConfigurationException refused) {
			return LockProviderException.nothingSent(refused.error(), RedisErrors.PROVIDER,
					"is " + QuorumNodeCheck.refused(node, refused), refused);
		}
		if (failure instanceof LockProviderException known) {
			return known.isEffectUnknown() ? LockProviderException.nothingSent(known.error(), known.provider(),
					known.problem(), known.getCause()) : known;
		}
		LockProviderException told = RedisErrors
			.notConnected((failure instanceof RuntimeException ex) ? ex : new IllegalStateException(failure));
		return LockProviderException.nothingSent(told.error(), told.provider(), withoutAddress(node, told.problem()),
				told.getCause());
	}

	/** Removes the address that the client adds: a message names the node elsewhere. */
	private static String withoutAddress(String node, String problem) {
		return problem.replaceAll(":? ?[^\\s/]*/" + Pattern.quote(node), "");
	}

	/** Closes the connection, and its client without waiting for it. */
	@Override
	public void close() {
		this.closed = true;
		ReopeningConnection present;
		synchronized (this) {
			present = this.link;
		}
		if (present != null) {
			present.fail(RedisErrors.closed(null), Duration.ofDays(1));
		}
		this.state.recordClosed();
		this.end = ((present != null) ? present.close() : CompletableFuture.completedFuture(null))
			.thenCompose((closed) -> this.client.shutdownAsync(0, 2, TimeUnit.SECONDS));
	}

	/** Waits until a closed node has no connection, or until a deadline. */
	void awaitClosed(Deadline deadline) {
		CompletableFuture<?> closing = this.end;
		if (closing != null) {
			deadline.awaitUninterruptibly((nanos) -> {
				try {
					return closing.handle((nothing, failure) -> true).get(Math.max(nanos, 0), TimeUnit.NANOSECONDS);
				}
				catch (ExecutionException | TimeoutException ex) {
					return false;
				}
			});
		}
	}

}
