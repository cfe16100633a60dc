package io.distributedlock.redis.lettuce;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
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
import io.distributedlock.provider.LockTimer;
import io.distributedlock.redis.lettuce.LettucePipeline.Run;
import io.distributedlock.redis.lettuce.LettuceSharedConnection.Opened;
import io.distributedlock.redis.script.RedisErrors;
import io.distributedlock.redis.script.RepetitionPause;
import io.distributedlock.redis.script.ReplicaRequirement;
import io.distributedlock.redis.script.ReplyHandler;
import io.distributedlock.redis.script.ScriptCall;
import io.distributedlock.redis.script.ScriptExecutor;
import io.distributedlock.redis.script.ScriptOutcome;
import io.distributedlock.redis.script.ScriptReply;
import io.distributedlock.redis.script.ScriptSubmission;
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

	private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	private final LockTimer timer;

	private final LettuceSharedConnection shared;

	private final DisconnectCounter disconnects = new DisconnectCounter();

	private final WorkerPools workers = new WorkerPools();

	private final LettuceWorkerCalls workerCalls;

	private final LettuceClient client;

	/** How many calls have begun and not ended. */
	private final AtomicInteger underWay = new AtomicInteger();

	/** Whether no further commands are sent. */
	private volatile boolean closed;

	public LettuceScriptExecutor(LettuceConnectionFactory factory, ReplicaRequirement replicas, LockTimer timer) {
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
		begin(call, kind, deadline, operation).send(null);
	}

	private Execution begin(ScriptCall call, CallKind kind, Deadline deadline, ReplyHandler<?> operation) {
		Execution execution = new Execution(call, kind, deadline, operation);
		this.underWay.incrementAndGet();
		operation.call().onAbandon(execution::abandon);
		return execution;
	}

	@Override
	public void runAll(List<ScriptSubmission> runs, CallKind kind, Deadline deadline) {
		Map<@Nullable Object, List<Execution>> byNode = new HashMap<>();
		runs.forEach((one) -> begin(one.call(), kind, deadline, one.operation()).send(byNode));
		byNode.forEach((node, all) -> submit(node, kind, deadline, all));
	}

	/** Runs scripts in one worker. */
	private void submit(@Nullable Object node, CallKind kind, Deadline deadline, List<Execution> all) {
		try {
			this.workerCalls.submit(node, kind, deadline, all);
		}
		catch (LockProviderException ex) {
			all.forEach((execution) -> execution.stop(ex));
		}
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
		this.closed = true;
		this.workers.close();
		while (this.underWay.get() > 0 && !end.isPast() && !Thread.currentThread().isInterrupted()) {
			LockSupport.parkNanos(LOOK_NANOS);
		}
		this.workerCalls.close();
		this.disconnects.close();
	}

	/**
	 * The run of a script, and its repetitions. Each step follows the one before, so that
	 * only the reply that is awaited is seen by two threads at a time.
	 */
	private final class Execution implements BiConsumer<List<Object>, Throwable>, WorkerTask, Run {

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

		/** The client of the last run. */
		private @Nullable AbstractRedisClient usedClient;

		/** Whether a worker has had the reply before the end of its run. */
		private boolean repliedEarly;

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

		/**
		 * Sends the script, if possible on the shared connection.
		 * @param byNode receives it, by node, if a worker has to send it with others
		 */
		private void send(@Nullable Map<@Nullable Object, List<Execution>> byNode) {
			if (this.operation.isAbandoned()) {
				end();
				return;
			}
			try {
				// A call that was counted before the end is waited for.
				if (LettuceScriptExecutor.this.closed) {
					throw RedisErrors.closed(null);
				}
				AbstractRedisClient client = LettuceScriptExecutor.this.client.require();
				this.usedClient = client;
				Opened opened = LettuceScriptExecutor.this.shared.find(client);
				if (opened != null && opened.isBroken()) {
					avoid(opened);
				}
				if (LettuceScriptExecutor.this.workerCalls.isNeededFor(this.call, this.slot)) {
					submitRun(byNode);
					return;
				}
				if (opened == null) {
					this.operation.recordQueued();
					LettuceScriptExecutor.this.workers.execute(this.kind, null, this);
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

		/** Opens the shared connection in a worker, since that blocks. */
		@Override
		public void run() {
			if (this.operation.isAbandoned()) {
				end();
				return;
			}
			try {
				AbstractRedisClient client = Objects.requireNonNull(this.usedClient);
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

		private void submitRun(@Nullable Map<@Nullable Object, List<Execution>> byNode) {
			this.operation.recordQueued();
			Object node = node(this.slot);
			if (byNode != null) {
				byNode.computeIfAbsent(node, (absent) -> new ArrayList<>()).add(this);
			}
			else {
				submit(node, this.kind, this.deadline, List.of(this));
			}
		}

		@Override
		public ScriptCall call() {
			return this.call;
		}

		@Override
		public void beginSend() {
			this.operation.beginSend(this.deadline);
		}

		@Override
		public void onEarlyReply(ScriptReply reply) {
			onOutcome(ScriptOutcome.of(reply));
			this.repliedEarly = true;
		}

		@Override
		public void onOutcome(ScriptOutcome outcome) {
			if (this.repliedEarly) {
				return;
			}
			AbstractRedisClient client = Objects.requireNonNull(this.usedClient);
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
		 * to the present master, and tells why if there is none.
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
					|| LettuceScriptExecutor.this.timer.trySchedule(() -> send(null), this.pauseNanos) == null) {
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
				LettuceScriptExecutor.this.underWay.decrementAndGet();
			}
		}

		/** Ends the wait for a reply; Lettuce does not send a cancelled command again. */
		private void abandon() {
			RedisFuture<List<Object>> reply = this.pending;
			if (reply != null && reply.cancel(false) && this.deadline.remainingNanos() < TIMEOUT_TOLERANCE_NANOS) {
				Opened opened = Objects.requireNonNull(this.connection);
				LettuceScriptExecutor.this.client.refresh(opened.client());
				avoid(opened);
			}
		}

	}

}
