package io.distributedlock.redis.quorum;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
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
import io.distributedlock.provider.LockTimer;
import io.distributedlock.redis.script.RedisErrors;
import io.distributedlock.redis.script.ReplyHandler;
import io.distributedlock.redis.script.ScriptCall;
import io.distributedlock.redis.script.ScriptReply;

/**
 * Node of a quorum over connections of Lettuce that are never opened again by themselves:
 * each new one asks the server what it is before anything else. A connection is opened
 * when a script needs it; after a failure not before a pause.
 */
final class LettuceQuorumNode implements QuorumNode {

	/** How long the opening of a connection may take, and the reply after it. */
	private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(2);

	/** How long no connection follows one that has failed. */
	private static final Duration PAUSE = Duration.ofMillis(200);

	/** How long others learn from a server that is no member before it tries again. */
	private static final Duration JOIN_PAUSE = Duration.ofSeconds(1);

	private final RedisQuorumNode address;

	private final RedisURI uri;

	private final RedisClient client;

	private final QuorumNodeCheck check;

	private final NodeJoin join;

	private final LockTimer timer;

	private final QuorumNodeState state;

	/** The present connection; guarded by the monitor. */
	private @Nullable NodeConnection connection;

	private volatile long connections;

	private volatile boolean closed;

	/**
	 * Creates a node without a connection.
	 * @param join what the nodes of the quorum know of each other
	 */
	LettuceQuorumNode(RedisQuorumNode address, ClientResources resources, QuorumNodeCheck check, NodeJoin join,
			LockTimer timer) {
		this.address = address;
		this.uri = RedisURI.builder(address.uri()).withTimeout(CONNECT_TIMEOUT).build();
		this.check = check;
		this.join = join;
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
		join.add(() -> connection().asked());
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
	public void run(ScriptCall call, CallKind kind, Deadline deadline, ReplyHandler<?> operation) {
		operation.recordQueued();
		LockProviderException refusal = this.join.refusalByOthers(this);
		if (refusal != null && kind != CallKind.RELEASE) {
			operation.fail(refusal);
			return;
		}
		NodeConnection present = connection();
		present.whenReady((failure) -> {
			if (failure == null) {
				present.run(call, deadline, operation);
			}
			else {
				operation.fail(failure.get());
			}
		});
	}

	private NodeConnection connection() {
		NodeConnection former;
		NodeConnection begun;
		synchronized (this) {
			former = this.connection;
			if (former != null && !former.isOver()) {
				return former;
			}
			begun = new NodeConnection();
			this.connection = begun;
			this.connections++;
		}
		if (former != null) {
			former.close();
		}
		begin(begun);
		return begun;
	}

	private void begin(NodeConnection begun) {
		try {
			if (this.closed) {
				throw RedisErrors.closed(null);
			}
			this.client.connectAsync(ByteArrayCodec.INSTANCE, this.uri).whenComplete((opened, failure) -> {
				if (opened == null) {
					fail(begun, failure);
					return;
				}
				begun.open(opened);
				if (this.closed) {
					fail(begun, RedisErrors.closed(null));
				}
				else {
					ask(begun);
				}
			});
		}
		catch (RuntimeException ex) {
			fail(begun, ex);
		}
	}

	private void ask(NodeConnection opened) {
		Future<?> expiry = this.timer.trySchedule(opened::close, CONNECT_TIMEOUT.toNanos());
		opened.run(this.check.script()).whenComplete((reply, failure) -> {
			if (expiry != null) {
				expiry.cancel(false);
			}
			try {
				if (reply != null) {
					enter(opened, identity(reply));
				}
				else {
					fail(opened, QuorumNodeCheck.failure(name(), failure));
				}
			}
			catch (RuntimeException ex) {
				fail(opened, ex);
			}
		});
	}

	private QuorumNodeCheck.Identity identity(ScriptReply reply) {
		try {
			QuorumNodeCheck.Identity identity = this.check.check(name(), reply);
			this.join.recordRefusal(this, null);
			return identity;
		}
		catch (LockConfigurationException ex) {
			if (ex.error() == LockError.INVALID_PROPERTY) {
				this.join.recordRefusal(this, ex);
			}
			throw ex;
		}
	}

	private void enter(NodeConnection entrant, QuorumNodeCheck.Identity identity) {
		if (!identity.missing().isZero()) {
			entrant.fail(this.state.recordRestarted(identity.missing()), identity.missing());
			return;
		}
		entrant.identify(identity.runId());
		this.join.admit(this, entrant);
		entrant.asked().complete(entrant);
		CompletableFuture<?> entrance = identity.member() ? CompletableFuture.completedFuture(null)
				: this.join.enter(entrant);
		entrance.whenComplete((done, failure) -> {
			if (failure == null) {
				this.state.recordUp();
				entrant.decide(null);
			}
			else {
				entrant.refuse(recordDown(failure), JOIN_PAUSE);
			}
		});
	}

	private void fail(NodeConnection failed, Throwable failure) {
		failed.fail(recordDown(failure), PAUSE);
	}

	/** Records why the node takes no part, and returns the failure of commands to it. */
	private Supplier<LockProviderException> recordDown(Throwable failure) {
		Throwable cause = (failure instanceof CompletionException && failure.getCause() != null) ? failure.getCause()
				: failure;
		LockProviderException told = notSent(cause);
		if (!this.closed) {
			this.state.recordDown(() -> (cause instanceof LockConfigurationException refused)
					? QuorumNodeCheck.refused(name(), refused) + ". " + refused.action() : "down: " + told.problem());
		}
		return () -> told;
	}

	private LockProviderException notSent(Throwable failure) {
		if (failure instanceof LockConfigurationException refused) {
			return LockProviderException.nothingSent(refused.error(), RedisErrors.PROVIDER,
					"is " + QuorumNodeCheck.refused(name(), refused), refused);
		}
		LockProviderException told = (failure instanceof LockProviderException known) ? known : RedisErrors
			.notConnected((failure instanceof RuntimeException ex) ? ex : new IllegalStateException(failure));
		// Without the address that the client adds: a message names the node elsewhere.
		String problem = told.problem().replaceAll(":? ?[^\\s/]*/" + Pattern.quote(name()), "");
		return LockProviderException.nothingSent(told.error(), RedisErrors.PROVIDER, problem, told.getCause());
	}

	/**
	 * Closes the connection and its client, without waiting.
	 * @return the end
	 */
	CompletableFuture<?> close() {
		this.closed = true;
		NodeConnection present;
		synchronized (this) {
			present = this.connection;
		}
		this.state.recordClosed();
		CompletableFuture<?> end = CompletableFuture.completedFuture(null);
		if (present != null) {
			fail(present, RedisErrors.closed(null));
			end = present.close();
		}
		return end.thenCompose((nothing) -> this.client.shutdownAsync(0, 2, TimeUnit.SECONDS));
	}

}
