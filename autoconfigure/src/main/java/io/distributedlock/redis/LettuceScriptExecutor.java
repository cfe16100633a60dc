package io.distributedlock.redis;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;
import io.distributedlock.redis.LettuceSharedConnection.Opened;

/**
 * Executor of scripts on the connection that Lettuce shares among all threads. No thread
 * waits for a reply: what follows runs on the event loop that receives it. Workers do
 * what blocks: opening the connection, and all calls on other connections.
 * <p>
 * Only the application can close a shared connection that does not reply. Until it
 * replies again, workers run the scripts on connections of the pool.
 */
final class LettuceScriptExecutor implements ScriptExecutor {

	/** The longest time between the failure of a command and that of its connection. */
	private static final long DISCONNECT_DELAY_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

	private static final long DISCONNECT_PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	/** Who abandons a call so short a time before its end does so for lack of a reply. */
	private static final long TIMEOUT_TOLERANCE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

	private final LettuceConnectionFactory factory;

	private final RedisTimer timer;

	private final LettuceSharedConnection shared;

	private final DisconnectCounter disconnects = new DisconnectCounter();

	private final WorkerPools workers = new WorkerPools();

	private final LettuceWorkerCalls workerCalls;

	private final UnresponsiveSlotTracker unresponsive;

	private final LettuceTopologyRefresh topology = new LettuceTopologyRefresh();

	/** The last client that has connected, and so knows the nodes of its cluster. */
	private volatile @Nullable AbstractRedisClient connected;

	LettuceScriptExecutor(LettuceConnectionFactory factory, ReplicaRequirement replicas, RedisTimer timer) {
		this.factory = factory;
		this.timer = timer;
		this.shared = new LettuceSharedConnection(factory);
		this.workerCalls = new LettuceWorkerCalls(factory, replicas, this.disconnects);
		this.unresponsive = new UnresponsiveSlotTracker(this.workerCalls::closeIdle);
	}

	@Override
	public boolean isBlocking() {
		return false;
	}

	@Override
	public void run(ScriptCall call, CallKind kind, Deadline deadline, ScriptOperation<?> operation) {
		new Execution(call, kind, deadline, operation).begin();
	}

	private AbstractRedisClient client() {
		try {
			AbstractRedisClient client = this.factory.getRequiredNativeClient();
			this.disconnects.watch(client);
			return client;
		}
		catch (IllegalStateException ex) {
			throw RedisErrors.notConnected(ex);
		}
	}

	/** Identifies the node of a slot, if the client knows it without asking a server. */
	private @Nullable Object node(AbstractRedisClient client, int slot) {
		if (client != this.connected || !(client instanceof RedisClusterClient cluster)) {
			return null;
		}
		RedisClusterNode node = cluster.getPartitions().getMasterBySlot(slot);
		return (node != null) ? node.getNodeId() : null;
	}

	@Override
	public void close() {
		this.disconnects.close();
		this.workers.close();
		this.workerCalls.close();
	}

	/**
	 * The run of a script, and its repetitions. Each step follows the one before, so that
	 * only the reply that is awaited is seen by two threads at a time.
	 */
	private final class Execution implements BiConsumer<List<Object>, Throwable> {

		private final ScriptCall call;

		private final CallKind kind;

		private final Deadline deadline;

		private final ScriptOperation<?> operation;

		private final int slot;

		private final long disconnectsBefore = LettuceScriptExecutor.this.disconnects.count();

		/** The count when the last command was sent on the shared connection. */
		private long disconnectsAtSend;

		private long pauseNanos;

		private boolean byText;

		private @Nullable Opened connection;

		/** The last reply to be awaited from the shared connection. */
		private volatile @Nullable RedisFuture<List<Object>> pending;

		private Execution(ScriptCall call, CallKind kind, Deadline deadline, ScriptOperation<?> operation) {
			this.call = call;
			this.kind = kind;
			this.deadline = deadline;
			this.operation = operation;
			this.slot = LettuceScriptExecutor.this.factory.isClusterAware() ? SlotHash.getSlot(call.keys()[0]) : 0;
		}

		private void begin() {
			this.operation.call().onAbandon(this::abandon);
			send();
		}

		private void send() {
			if (this.operation.isAbandoned()) {
				return;
			}
			try {
				AbstractRedisClient client = client();
				if (LettuceScriptExecutor.this.workerCalls.isNeededFor(this.call)
						|| LettuceScriptExecutor.this.unresponsive.contains(this.slot)) {
					submit(node(client, this.slot), () -> runInWorker(client));
					return;
				}
				Opened opened = LettuceScriptExecutor.this.shared.find(client);
				if (opened != null) {
					sendOn(opened);
				}
				else {
					submit(null, () -> openInWorker(client));
				}
			}
			catch (RuntimeException ex) {
				fail(ex);
			}
		}

		private void submit(@Nullable Object node, Runnable action) {
			this.operation.recordQueued();
			LettuceScriptExecutor.this.workers.execute(this.kind, node, () -> {
				if (!this.operation.isAbandoned()) {
					work(action);
				}
			});
		}

		private void work(Runnable action) {
			try {
				action.run();
			}
			catch (RuntimeException ex) {
				fail(ex);
			}
			catch (Error ex) {
				fail(new IllegalStateException(ex));
				throw ex;
			}
		}

		private void openInWorker(AbstractRedisClient client) {
			Opened opened = LettuceScriptExecutor.this.shared.open(client);
			LettuceScriptExecutor.this.connected = client;
			sendOn(opened);
		}

		private void runInWorker(AbstractRedisClient client) {
			if (!this.operation.beginSend()) {
				return;
			}
			ScriptReply reply;
			try {
				reply = LettuceScriptExecutor.this.workerCalls.run(this.call, this.kind, this.deadline);
			}
			catch (RuntimeException ex) {
				LettuceScriptExecutor.this.topology.onFailure(client, ex);
				throw ex;
			}
			LettuceScriptExecutor.this.connected = client;
			this.operation.reply(reply.withResent(isResent()));
		}

		private void sendOn(Opened opened) {
			if (this.operation.beginSend()) {
				this.connection = opened;
				this.disconnectsAtSend = LettuceScriptExecutor.this.disconnects.count();
				this.byText = false;
				await(LettuceCommands.send(opened.commands(), this.call));
			}
		}

		/** Whoever comes second, this or an abandonment, sees the other and cancels. */
		private void await(RedisFuture<List<Object>> reply) {
			this.pending = reply;
			if (this.operation.isAbandoned()) {
				reply.cancel(false);
			}
			reply.whenComplete(this);
		}

		@Override
		public void accept(@Nullable List<Object> values, @Nullable Throwable failure) {
			if (values != null) {
				this.operation.reply(new ScriptReply(values, true, isResent()));
			}
			else if (!this.operation.isAbandoned()) {
				handle((failure instanceof RuntimeException ex) ? ex : new IllegalStateException(failure));
			}
		}

		/** Handles the failure of a command on the shared connection. */
		private void handle(RuntimeException ex) {
			Opened opened = Objects.requireNonNull(this.connection);
			if (!this.byText && RedisErrors.isUnknownScript(ex)) {
				sendText(opened);
				return;
			}
			LettuceScriptExecutor.this.topology.onFailure(opened.client(), ex);
			if (RedisErrors.isTimeout(ex)) {
				avoid(opened);
				fail(ex);
			}
			else if (ex instanceof RedisCommandExecutionException) {
				fail(ex);
			}
			else {
				failAfterDisconnect(ex, Deadline.afterNanos(DISCONNECT_DELAY_NANOS).earlier(this.deadline));
			}
		}

		private void sendText(Opened opened) {
			this.byText = true;
			try {
				await(LettuceCommands.sendText(opened.commands(), this.call));
			}
			catch (RuntimeException ex) {
				fail(ex);
			}
		}

		/** Sends no further scripts to the slot's node on a connection without reply. */
		private void avoid(Opened opened) {
			LettuceScriptExecutor.this.unresponsive.add(this.slot, () -> opened.commands().get(this.call.keys()[0]));
		}

		/**
		 * Waits until the counter has seen the disconnect that made a command fail:
		 * commands fail a moment earlier, and the next call would count the disconnect as
		 * its own.
		 */
		private void failAfterDisconnect(RuntimeException ex, Deadline end) {
			if (LettuceScriptExecutor.this.disconnects.count() != this.disconnectsAtSend || end.isPast()
					|| LettuceScriptExecutor.this.timer.schedule(() -> failAfterDisconnect(ex, end),
							DISCONNECT_PERIOD_NANOS) == null) {
				fail(ex);
			}
		}

		/** Runs the script again after a pause if that may help, or ends the operation. */
		private void fail(RuntimeException ex) {
			this.pauseNanos = RepetitionPause.after(this.pauseNanos, ex, this.kind, this.deadline);
			if (this.pauseNanos == 0
					|| LettuceScriptExecutor.this.timer.schedule(this::send, this.pauseNanos) == null) {
				this.operation.fail(RedisErrors.translate(ex, isResent()));
			}
		}

		private boolean isResent() {
			return LettuceScriptExecutor.this.disconnects.count() != this.disconnectsBefore;
		}

		/** Ends the wait for a reply; Lettuce does not send a cancelled command again. */
		private void abandon() {
			RedisFuture<List<Object>> reply = this.pending;
			if (reply != null && reply.cancel(false) && this.deadline.remainingNanos() < TIMEOUT_TOLERANCE_NANOS) {
				Opened opened = Objects.requireNonNull(this.connection);
				LettuceScriptExecutor.this.topology.refresh(opened.client());
				avoid(opened);
			}
		}

	}

}
