package io.distributedlock.redis.quorum;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.lettuce.core.RedisFuture;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockProviderException;
import io.distributedlock.provider.Deadline;
import io.distributedlock.redis.lettuce.LettuceCommands;
import io.distributedlock.redis.script.RedisErrors;
import io.distributedlock.redis.script.ReplyHandler;
import io.distributedlock.redis.script.ScriptCall;
import io.distributedlock.redis.script.ScriptReply;

/**
 * A connection to a node of a quorum, from its opening to its end. It leads to one
 * process of the server: the client never opens it again, so that no command is sent to
 * another process or sent twice. It fails at any of its steps, and is then followed by
 * another one after a pause.
 */
final class NodeConnection {

	/** How long a server may reply to nothing before its connection is given up. */
	private static final Duration PATIENCE = Duration.ofSeconds(2);

	/** Who abandons a call so short a time before its end does so for lack of a reply. */
	private static final long TIMEOUT_TOLERANCE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

	private final CompletableFuture<NodeConnection> asked = new CompletableFuture<>();

	/**
	 * What waits until the server is a member, first come, first served: a release that
	 * waits behind its attempt must not overtake it, as it would among the dependents of
	 * a future. Guarded by the monitor.
	 */
	private final List<Consumer<@Nullable Supplier<LockProviderException>>> waiting = new ArrayList<>();

	/** Whether it is known if the server is a member; guarded by the monitor. */
	private boolean decided;

	/** Whether nothing waits any more; guarded by the monitor. */
	private boolean settled;

	/** Why the server is no member; guarded by the monitor. */
	private @Nullable Supplier<LockProviderException> failure;

	private volatile @Nullable StatefulRedisConnection<byte[], byte[]> client;

	private final AtomicBoolean closing = new AtomicBoolean();

	private final CompletableFuture<@Nullable Void> closed = new CompletableFuture<>();

	/** The end of the pause after a failure. */
	private volatile @Nullable Deadline retry;

	private volatile String runId = "";

	private final AtomicLong replies = new AtomicLong();

	/** The commands without a reply; guarded by the monitor. */
	private int awaited;

	/** Until when the next reply has to come; guarded by the monitor. */
	private @Nullable Deadline silence;

	/** Records the client's connection, which has not been used yet. */
	void open(StatefulRedisConnection<byte[], byte[]> opened) {
		this.client = opened;
	}

	/** The random id of the server's process. */
	String runId() {
		return this.runId;
	}

	void identify(String runId) {
		this.runId = runId;
	}

	/** Completes once the server has run for long enough. */
	CompletableFuture<NodeConnection> asked() {
		return this.asked;
	}

	/** Runs an action once the server is a member, or with the failure. */
	void whenReady(Consumer<@Nullable Supplier<LockProviderException>> action) {
		Supplier<LockProviderException> reason;
		synchronized (this) {
			if (!this.settled) {
				this.waiting.add(action);
				return;
			}
			reason = this.failure;
		}
		action.accept(reason);
	}

	/**
	 * Decides whether the server is a member, unless that is decided, and runs what
	 * waits. What comes meanwhile is behind it.
	 * @param reason why it is none, or {@code null}
	 */
	void decide(@Nullable Supplier<LockProviderException> reason) {
		synchronized (this) {
			if (this.decided) {
				return;
			}
			this.decided = true;
			this.failure = reason;
		}
		List<Consumer<@Nullable Supplier<LockProviderException>>> next;
		do {
			synchronized (this) {
				next = List.copyOf(this.waiting);
				this.waiting.clear();
				this.settled = next.isEmpty();
			}
			next.forEach((action) -> action.accept(reason));
		}
		while (!next.isEmpty());
	}

	/**
	 * Ends the connection.
	 * @param pause the time before the next one
	 */
	void fail(Supplier<LockProviderException> reason, Duration pause) {
		this.retry = Deadline.after(pause);
		close();
		this.asked.completeExceptionally(reason.get());
		decide(reason);
	}

	/**
	 * Refuses the connection to commands for a time, after which another one follows.
	 * Until then other servers can still learn from this one, whose own attempts to
	 * become a member come at other times.
	 */
	void refuse(Supplier<LockProviderException> reason, Duration pause) {
		this.retry = Deadline.after(pause);
		decide(reason);
	}

	/** Whether another one may follow. */
	boolean isOver() {
		Deadline pause = this.retry;
		return (pause != null) ? pause.isPast() : this.asked.isDone() && !isUsable();
	}

	/** Whether it is open, and the server has not been silent for too long. */
	synchronized boolean isUsable() {
		StatefulRedisConnection<byte[], byte[]> opened = this.client;
		return opened != null && !this.closing.get() && opened.isOpen()
				&& (this.silence == null || !this.silence.isPast());
	}

	private synchronized void begin() {
		if (this.awaited++ == 0) {
			this.silence = Deadline.after(PATIENCE);
		}
	}

	private synchronized void end() {
		this.silence = (--this.awaited > 0) ? Deadline.after(PATIENCE) : null;
	}

	/**
	 * Runs a script; the operation receives its end. A server that has replied to nothing
	 * from then until the deadline loses the connection: the next one may be better.
	 */
	void run(ScriptCall call, Deadline deadline, ReplyHandler<?> operation) {
		long repliesBefore = this.replies.get();
		operation.call().onAbandon(() -> {
			if (deadline.remainingNanos() < TIMEOUT_TOLERANCE_NANOS && this.replies.get() == repliesBefore) {
				close();
			}
		});
		follow(call, operation, false);
	}

	private void follow(ScriptCall call, ReplyHandler<?> operation, boolean byText) {
		RedisFuture<List<Object>> reply;
		operation.recordBeingSent(true);
		try {
			// Not after its end: what followed it was sent already.
			if (!operation.beginSend()) {
				return;
			}
			begin();
			reply = send(call, byText);
		}
		catch (RuntimeException ex) {
			end();
			operation.fail(RedisErrors.translate(ex, false));
			return;
		}
		finally {
			operation.recordBeingSent(false);
		}
		reply.whenComplete((values, failure) -> {
			end();
			if (values != null) {
				this.replies.incrementAndGet();
				operation.reply(new ScriptReply(values, true));
			}
			else if (!byText && RedisErrors.isUnknownScript(failure)) {
				follow(call, operation, true);
			}
			else {
				fail(operation, failure);
			}
		});
	}

	private RedisFuture<List<Object>> send(ScriptCall call, boolean byText) {
		RedisClusterAsyncCommands<byte[], byte[]> commands = Objects.requireNonNull(this.client).async();
		return byText ? LettuceCommands.sendText(commands, call) : LettuceCommands.send(commands, call);
	}

	private void fail(ReplyHandler<?> operation, Throwable failure) {
		if (RedisErrors.isReadOnly(failure)) {
			// The next connection asks what the server is now.
			close();
		}
		operation.fail(RedisErrors
			.translate((failure instanceof RuntimeException ex) ? ex : new IllegalStateException(failure), false));
	}

	/** Runs a script that belongs to no operation. */
	CompletableFuture<ScriptReply> run(ScriptCall call) {
		CompletableFuture<ScriptReply> result = new CompletableFuture<>();
		run(call, Deadline.after(PATIENCE), new ReplyHandler<ScriptReply>() {

			@Override
			public void onReply(ScriptReply reply) {
				result.complete(reply);
			}

			@Override
			public void onFailure(LockProviderException failure) {
				result.completeExceptionally(failure);
			}

		});
		return result;
	}

	/**
	 * Closes the connection, without waiting. Commands without a reply fail.
	 * @return the end
	 */
	CompletableFuture<?> close() {
		StatefulRedisConnection<byte[], byte[]> opened = this.client;
		if (opened == null) {
			return CompletableFuture.completedFuture(null);
		}
		if (this.closing.compareAndSet(false, true)) {
			opened.closeAsync().whenComplete((nothing, failure) -> this.closed.complete(null));
		}
		return this.closed;
	}

}
