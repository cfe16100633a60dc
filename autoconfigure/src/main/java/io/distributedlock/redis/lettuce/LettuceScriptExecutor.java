package io.distributedlock.redis.lettuce;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisFuture;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;
import io.distributedlock.redis.lettuce.LettuceSharedConnection.Opened;
import io.distributedlock.redis.script.RedisErrors;
import io.distributedlock.redis.script.RedisTimer;
import io.distributedlock.redis.script.RepetitionPause;
import io.distributedlock.redis.script.ReplicaRequirement;
import io.distributedlock.redis.script.ReplyHandler;
import io.distributedlock.redis.script.ScriptCall;
import io.distributedlock.redis.script.ScriptExecutor;
import io.distributedlock.redis.script.ScriptOutcome;
import io.distributedlock.redis.script.ScriptReply;
import io.distributedlock.redis.script.WorkerPools;
import io.distributedlock.redis.script.WorkerTask;

/**
 * Executor of scripts on the connection that Lettuce shares among all threads. No thread
 * waits for a reply: what follows runs on the event loop that receives it. Workers do
 * what blocks: opening the connection, and all calls on other connections.
 * <p>
 * Only the application can close a shared connection that does not reply, or leads to a
 * server that has become a replica. Until it replies again, workers run the scripts on
 * connections of the pool.
 */
public final class LettuceScriptExecutor implements ScriptExecutor {

	private static final Log logger = LogFactory.getLog(LettuceScriptExecutor.class);

	/** Who abandons a call so short a time before its end does so for lack of a reply. */
	private static final long TIMEOUT_TOLERANCE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

	/** How long the end waits for calls on the shared connection. */
	private static final Duration PATIENCE = Duration.ofSeconds(1);

	private final RedisTimer timer;

	private final LettuceSharedConnection shared;

	private final DisconnectCounter disconnects = new DisconnectCounter();

	private final WorkerPools workers = new WorkerPools();

	private final LettuceWorkerCalls workerCalls;

	private final LettuceClient client;

	private final CallsUnderWay calls = new CallsUnderWay();

	public LettuceScriptExecutor(LettuceConnectionFactory factory, ReplicaRequirement replicas, RedisTimer timer) {
		this.timer = timer;
		this.shared = new LettuceSharedConnection(factory);
		this.workerCalls = new LettuceWorkerCalls(factory, replicas, this.disconnects, this.workers, timer);
		this.client = new LettuceClient(factory, this.disconnects, this.workerCalls::restoreShared);
	}

	@Override
	public boolean isBlocking() {
		return false;
	}

	@Override
	public void run(ScriptCall call, CallKind kind, Deadline deadline, ReplyHandler<?> operation) {
		Execution execution = new Execution(call, kind, deadline, operation);
		this.calls.begin();
		operation.call().onAbandon(execution::abandon);
		execution.send();
	}

	@Override
	public int slot(byte[] key) {
		return this.client.slot(key);
	}

	@Override
	public @Nullable Object node(int slot) {
		return this.client.node(slot);
	}

	@Override
	public @Nullable Object client() {
		return this.client.find();
	}

	@Override
	public OptionalLong disconnects() {
		return OptionalLong.of(this.disconnects.count());
	}

	/** Counts disconnects until no call needs to know of them. */
	@Override
	public void close() {
		Deadline end = Deadline.after(PATIENCE);
		this.calls.close();
		this.workers.close();
		this.calls.awaitEnd(end);
		this.workerCalls.close();
		this.disconnects.close();
	}

	/**
	 * The run of a script, and its repetitions. Each step follows the one before, so that
	 * only the reply that is awaited is seen by two threads at a time.
	 */
	private final class Execution implements BiConsumer<List<Object>, Throwable>, WorkerTask {

		private final ScriptCall call;

		private final CallKind kind;

		private final Deadline deadline;

		private final ReplyHandler<?> operation;

		private final int slot;

		private final long disconnectsBefore = LettuceScriptExecutor.this.disconnects.count();

		/** The count when the last command was sent on the shared connection. */
		private long disconnectsAtSend;

		private long pauseNanos;

		private boolean byText;

		private boolean ended;

		/** The client whose shared connection a worker has to open. */
		private @Nullable AbstractRedisClient opening;

		private @Nullable Opened connection;

		/** The last reply to be awaited from the shared connection. */
		private volatile @Nullable RedisFuture<List<Object>> pending;

		private Execution(ScriptCall call, CallKind kind, Deadline deadline, ReplyHandler<?> operation) {
			this.call = call;
			this.kind = kind;
			this.deadline = deadline;
			this.operation = operation;
			this.slot = slot(call.keys()[0]);
		}

		private void send() {
			if (this.operation.isAbandoned()) {
				end();
				return;
			}
			try {
				LettuceScriptExecutor.this.calls.requireOpen();
				AbstractRedisClient client = LettuceScriptExecutor.this.client.require();
				Opened opened = LettuceScriptExecutor.this.shared.find(client);
				if (opened != null && opened.isBroken()) {
					avoid(opened);
				}
				if (LettuceScriptExecutor.this.workerCalls.isNeededFor(this.call, this.slot)) {
					submitRun(client);
					return;
				}
				if (opened == null) {
					submitOpening(client);
				}
				else if (this.operation.beginSend()) {
					sendOn(opened);
				}
				else {
					end();
				}
			}
			catch (RuntimeException | Error ex) {
				stop(ex);
			}
		}

		private void submitOpening(AbstractRedisClient client) {
			this.operation.recordQueued();
			this.opening = client;
			LettuceScriptExecutor.this.workers.execute(this.kind, null, this);
		}

		/** Opens the shared connection in a worker, since that blocks. */
		@Override
		public void run() {
			if (this.operation.isAbandoned()) {
				end();
				return;
			}
			try {
				AbstractRedisClient client = Objects.requireNonNull(this.opening);
				Opened opened = LettuceScriptExecutor.this.shared.open(client);
				LettuceScriptExecutor.this.client.recordConnected(client);
				this.operation.beginSend(this.deadline);
				sendOn(opened);
			}
			catch (RuntimeException | Error ex) {
				stop(ex);
			}
		}

		@Override
		public void drop(LockProviderException reason) {
			fail(reason);
		}

		private void submitRun(AbstractRedisClient client) {
			this.operation.recordQueued();
			LettuceScriptExecutor.this.workerCalls.submit(node(this.slot), new LettuceWorkerRun(this.call, this.kind,
					this.deadline, () -> this.operation.beginSend(this.deadline), (outcome) -> ended(client, outcome)));
		}

		private void ended(AbstractRedisClient client, ScriptOutcome outcome) {
			try {
				ScriptReply reply = outcome.get();
				LettuceScriptExecutor.this.client.recordConnected(client);
				reply(reply.withResent(isResent()));
			}
			catch (RuntimeException ex) {
				LettuceScriptExecutor.this.client.onFailure(client, ex);
				stop(ex);
			}
		}

		private void sendOn(Opened opened) {
			this.connection = opened;
			this.disconnectsAtSend = LettuceScriptExecutor.this.disconnects.count();
			this.byText = false;
			await(LettuceCommands.send(opened.commands(), this.call));
		}

		/** Whoever comes second, this or an abandonment, sees the other and cancels. */
		private void await(RedisFuture<List<Object>> reply) {
			this.pending = reply;
			if (this.operation.isAbandoned()) {
				reply.cancel(false);
			}
			reply.whenComplete(this);
		}

		/** On an event loop nobody would catch what this throws. */
		@Override
		public void accept(@Nullable List<Object> values, @Nullable Throwable failure) {
			try {
				if (values != null) {
					reply(new ScriptReply(values, true, isResent(), false));
				}
				else if (this.operation.isAbandoned()) {
					end();
				}
				else {
					handle((failure instanceof RuntimeException ex) ? ex : new IllegalStateException(failure));
				}
			}
			catch (RuntimeException | Error ex) {
				stop(ex);
			}
		}

		/** Handles the failure of a command on the shared connection. */
		private void handle(RuntimeException ex) {
			Opened opened = Objects.requireNonNull(this.connection);
			if (!this.byText && RedisErrors.isUnknownScript(ex)) {
				this.byText = true;
				await(LettuceCommands.sendText(opened.commands(), this.call));
				return;
			}
			LettuceScriptExecutor.this.client.onFailure(opened.client(), ex);
			if (RedisErrors.isTimeout(ex) || RedisErrors.isReadOnly(ex)) {
				avoid(opened);
				fail(ex);
			}
			else if (ex instanceof RedisCommandExecutionException) {
				fail(ex);
			}
			else {
				// Or the next call, such as a release, would count it as its own.
				LettuceScriptExecutor.this.disconnects.runAfterDisconnect(this.disconnectsAtSend, this.deadline,
						LettuceScriptExecutor.this.timer, () -> fail(ex));
			}
		}

		/**
		 * Sends no further scripts to the slot's node on a connection that broke or gives
		 * no reply, or to a server that has become a replica: another connection may lead
		 * to the present primary, and tells why if there is none.
		 */
		private void avoid(Opened opened) {
			ScriptCall probe = ScriptCall.probe(this.call.keys()[0]);
			LettuceScriptExecutor.this.workerCalls.replaceShared(this.slot,
					() -> LettuceCommands.sendText(opened.commands(), probe), opened::isBroken);
		}

		private void stop(Throwable ex) {
			if (ex instanceof Error) {
				logger.error("A call to Redis failed", ex);
			}
			fail((ex instanceof RuntimeException known) ? known : new IllegalStateException(ex));
		}

		/**
		 * Runs the script again after a pause if that may help, or ends the operation.
		 */
		private void fail(RuntimeException ex) {
			this.pauseNanos = RepetitionPause.after(this.pauseNanos, ex, this.kind, this.deadline);
			if (this.pauseNanos == 0
					|| LettuceScriptExecutor.this.timer.schedule(this::send, this.pauseNanos) == null) {
				this.operation
					.fail(this.operation.isSent() ? RedisErrors.translate(ex, isResent()) : RedisErrors.notSent(ex));
				end();
			}
		}

		private void reply(ScriptReply reply) {
			this.operation.reply(reply);
			end();
		}

		private boolean isResent() {
			return LettuceScriptExecutor.this.disconnects.count() != this.disconnectsBefore;
		}

		private void end() {
			if (!this.ended) {
				this.ended = true;
				LettuceScriptExecutor.this.calls.end();
			}
		}

		/** Ends the wait for a reply; Lettuce does not send a cancelled command again. */
		private void abandon() {
			RedisFuture<List<Object>> reply = this.pending;
			if (reply != null && reply.cancel(false) && this.deadline.remainingNanos() < TIMEOUT_TOLERANCE_NANOS) {
				Opened opened = Objects.requireNonNull(this.connection);
				LettuceScriptExecutor.this.client.onTimeout(opened.client());
				avoid(opened);
			}
		}

	}

}
