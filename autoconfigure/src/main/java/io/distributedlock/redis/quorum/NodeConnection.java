package io.distributedlock.redis.quorum;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

import io.lettuce.core.RedisFuture;
import io.lettuce.core.api.StatefulRedisConnection;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockProviderException;
import io.distributedlock.provider.Deadline;
import io.distributedlock.redis.lettuce.LettuceCommands;
import io.distributedlock.redis.script.RedisErrors;
import io.distributedlock.redis.script.ReplyHandler;
import io.distributedlock.redis.script.ScriptCall;
import io.distributedlock.redis.script.ScriptReply;

/**
 * A connection to a node of a quorum, which leads to one process of the server: it is
 * never opened again, so that no command is sent to another process or sent twice.
 */
final class NodeConnection {

	/** How long a server may reply to nothing before its connection is given up. */
	private static final Duration PATIENCE = Duration.ofSeconds(2);

	/** Who abandons a call so short a time before its end does so for lack of a reply. */
	private static final long TIMEOUT_TOLERANCE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

	private final StatefulRedisConnection<byte[], byte[]> connection;

	private final AtomicLong replies = new AtomicLong();

	private final AtomicReference<@Nullable CompletableFuture<@Nullable Void>> closing = new AtomicReference<>();

	private volatile String runId = "";

	/** The commands without a reply; guarded by the monitor. */
	private int awaited;

	/** Until when the next reply has to come; guarded by the monitor. */
	private @Nullable Deadline silence;

	NodeConnection(StatefulRedisConnection<byte[], byte[]> connection) {
		this.connection = connection;
	}

	/** The random id of the server's process. */
	String runId() {
		return this.runId;
	}

	void identify(String runId) {
		this.runId = runId;
	}

	/** Whether it is open, and the server has not been silent for too long. */
	boolean isUsable() {
		return this.closing.get() == null && this.connection.isOpen() && !isSilent();
	}

	private synchronized boolean isSilent() {
		return this.silence != null && this.silence.isPast();
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
		return byText ? LettuceCommands.sendText(this.connection.async(), call)
				: LettuceCommands.send(this.connection.async(), call);
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
		if (this.closing.compareAndSet(null, new CompletableFuture<>())) {
			CompletableFuture<@Nullable Void> end = Objects.requireNonNull(this.closing.get());
			this.connection.closeAsync().whenComplete((nothing, failure) -> end.complete(null));
		}
		return Objects.requireNonNull(this.closing.get());
	}

}
