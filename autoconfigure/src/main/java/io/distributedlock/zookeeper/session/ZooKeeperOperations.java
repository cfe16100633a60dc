package io.distributedlock.zookeeper.session;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.apache.zookeeper.AsyncCallback.Children2Callback;
import org.apache.zookeeper.AsyncCallback.Create2Callback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Asynchronous operations of one ZooKeeper handle. Each request is answered; answers and
 * the stages that depend on them run on the handle's event thread, in the order of
 * sending, and must not block. A failure is a {@link KeeperException}.
 */
public final class ZooKeeperOperations {

	private static final byte[] EMPTY = {};

	private final ZooKeeper zooKeeper;

	private final List<ACL> acl;

	private final Consumer<Code> answered;

	/**
	 * Creates the operations of a handle.
	 * @param acl the access control list of created nodes
	 * @param answered receives the code of each answer before the caller does; must not
	 * block
	 */
	ZooKeeperOperations(ZooKeeper zooKeeper, List<ACL> acl, Consumer<Code> answered) {
		this.zooKeeper = zooKeeper;
		// A blocking call looks for null in the list, which an immutable one refuses.
		this.acl = new ArrayList<>(acl);
		this.answered = answered;
	}

	public CompletableFuture<Stat> create(String path, byte[] data, CreateMode mode) {
		CompletableFuture<Stat> end = new CompletableFuture<>();
		Create2Callback callback = (code, asked, context, created, stat) -> end(end, code, OpCode.create, asked, stat);
		this.zooKeeper.create(path, data, this.acl, mode, callback, null);
		return end;
	}

	/**
	 * Creates an ephemeral node and waits for the answer.
	 * @param stat receives the {@link Stat} of the node
	 */
	public void createNow(String path, Stat stat) throws KeeperException, InterruptedException {
		this.zooKeeper.create(path, EMPTY, this.acl, CreateMode.EPHEMERAL, stat);
	}

	/** Deletes a node without a change of its data and waits for the answer. */
	public void deleteNow(String path) throws KeeperException, InterruptedException {
		this.zooKeeper.delete(path, LockNodeState.HELD.version());
	}

	/** Creates an ephemeral sequential node and returns the name that it got. */
	public CompletableFuture<String> createSequential(String path) {
		CompletableFuture<String> end = new CompletableFuture<>();
		Create2Callback callback = (code, asked, context, created, stat) -> end(end, code, OpCode.create, asked,
				(created != null) ? NodePaths.name(created) : null);
		this.zooKeeper.create(path, EMPTY, this.acl, CreateMode.EPHEMERAL_SEQUENTIAL, callback, null);
		return end;
	}

	/**
	 * Creates a container and its first node in one transaction: ZooKeeper never removes
	 * a container that never had a child.
	 * @return completes with the node's name, or with an empty name if the container
	 * exists or its parent is missing
	 */
	public CompletableFuture<String> createSequentialInContainer(String container, String path) {
		List<Op> steps = List.of(createContainerStep(container),
				Op.create(path, EMPTY, this.acl, CreateMode.EPHEMERAL_SEQUENTIAL));
		return multi(steps).thenCompose((results) -> {
			if (results.get(1) instanceof OpResult.CreateResult created) {
				// The answer to a transaction has the full path, with the client's
				// chroot.
				return CompletableFuture.completedFuture(NodePaths.name(created.getPath()));
			}
			Code code = (results.get(0) instanceof OpResult.ErrorResult refused) ? Code.get(refused.getErr()) : null;
			return (code == Code.NODEEXISTS || code == Code.NONODE) ? CompletableFuture.completedFuture("")
					: CompletableFuture.failedFuture(ZooKeeperErrors.failure(code, OpCode.createContainer, container));
		});
	}

	/**
	 * Creates an ephemeral node with a given path, and raises the version of its parent,
	 * in one transaction.
	 * @return completes with {@code false} if the parent is missing
	 */
	public CompletableFuture<Boolean> createAt(String path, String parent) {
		List<Op> steps = List.of(createStep(path), touchStep(parent, -1));
		return multi(steps).thenCompose((results) -> {
			int failed = (results.get(0) instanceof OpResult.ErrorResult first && first.getErr() != Code.OK.intValue())
					? 0 : 1;
			if (!(results.get(failed) instanceof OpResult.ErrorResult refused)) {
				return CompletableFuture.completedFuture(true);
			}
			Code code = Code.get(refused.getErr());
			return (code == Code.NODEEXISTS || code == Code.NONODE)
					? CompletableFuture.completedFuture(code == Code.NODEEXISTS)
					: CompletableFuture.failedFuture(ZooKeeperErrors.failure(code, steps.get(failed)));
		});
	}

	public CompletableFuture<Boolean> delete(String path, int version) {
		CompletableFuture<Boolean> end = new CompletableFuture<>();
		this.zooKeeper.delete(path, version, (code, asked, context) -> end(end, code, OpCode.delete, asked, true),
				null);
		return end;
	}

	CompletableFuture<Stat> setData(String path, byte[] data, int version) {
		CompletableFuture<Stat> end = new CompletableFuture<>();
		this.zooKeeper.setData(path, data, version,
				(code, asked, context, stat) -> end(end, code, OpCode.setData, asked, stat), null);
		return end;
	}

	/** Writes empty data, so that only the version changes. */
	public CompletableFuture<Stat> touch(String path, int version) {
		return setData(path, EMPTY, version);
	}

	public CompletableFuture<ZNode> read(String path, @Nullable Watcher watcher) {
		CompletableFuture<ZNode> end = new CompletableFuture<>();
		this.zooKeeper.getData(path, watcher, (code, asked, context, data, stat) -> end(end, code, OpCode.getData,
				asked, (stat != null) ? new ZNode((data != null) ? data : EMPTY, stat) : null), null);
		return end;
	}

	public CompletableFuture<Children> children(String path, @Nullable Watcher watcher) {
		CompletableFuture<Children> end = new CompletableFuture<>();
		Children2Callback callback = (code, asked, context, names, stat) -> end(end, code, OpCode.getChildren, asked,
				(names != null) ? new Children(names, stat.getCzxid(), stat.getVersion()) : null);
		this.zooKeeper.getChildren(path, watcher, callback, null);
		return end;
	}

	/** Reads the children of a node that exist, by name. A missing node has none. */
	public CompletableFuture<Map<String, ZNode>> readChildren(String path) {
		return existing(children(path, null).thenApply(Children::names)).thenApply((names) -> names.orElse(List.of()))
			.thenCompose((names) -> names.isEmpty() ? CompletableFuture.completedFuture(Map.of())
					: multi(names.stream().map((name) -> Op.getData(path + "/" + name)).toList())
						.thenApply((results) -> found(names, results)));
	}

	private static Map<String, ZNode> found(List<String> names, List<OpResult> reads) {
		Map<String, ZNode> nodes = new HashMap<>();
		for (int i = 0; i < reads.size(); i++) {
			if (reads.get(i) instanceof OpResult.GetDataResult read) {
				nodes.put(names.get(i), new ZNode(EMPTY, read.getStat()));
			}
		}
		return nodes;
	}

	/** Reads the {@link Stat} of a node, for which most servers demand no permission. */
	public CompletableFuture<Stat> stat(String path, @Nullable Watcher watcher) {
		CompletableFuture<Stat> end = new CompletableFuture<>();
		this.zooKeeper.exists(path, watcher, (code, asked, context, stat) -> end(end, code, OpCode.exists, asked, stat),
				null);
		return end;
	}

	/** Reads the number of a node's children, 0 if the node is missing. */
	public CompletableFuture<Integer> childCount(String path) {
		return recover(stat(path, null).thenApply(Stat::getNumChildren), Code.NONODE,
				() -> CompletableFuture.completedFuture(0));
	}

	/** Continues a request that was answered with a certain code. */
	public static <T> CompletableFuture<T> recover(CompletableFuture<T> answer, Code code,
			Supplier<CompletableFuture<T>> next) {
		return answer.exceptionallyCompose(
				(ex) -> ZooKeeperErrors.is(ex, code) ? next.get() : CompletableFuture.failedFuture(ex));
	}

	/** Completes with what was read, if the node exists. */
	public static <T> CompletableFuture<Optional<T>> existing(CompletableFuture<T> answer) {
		return recover(answer.thenApply((read) -> Optional.of(read)), Code.NONODE,
				() -> CompletableFuture.completedFuture(Optional.empty()));
	}

	/**
	 * Sends a transaction, or several reads. Only the end of the connection or the
	 * session is a failure, and a server that does not know the request; each other error
	 * is among the results.
	 */
	public CompletableFuture<List<OpResult>> multi(List<Op> steps) {
		CompletableFuture<List<OpResult>> end = new CompletableFuture<>();
		this.zooKeeper.multi(steps, (code, asked, context, results) -> {
			boolean answered = results != null && results.size() == steps.size();
			end(end, answered ? Code.OK.intValue() : code, OpCode.multi, steps.get(0).getPath(), results);
		}, null);
		return end;
	}

	/**
	 * Deletes a node that was read if it is an empty container of shares. The first steps
	 * refuse a node of another kind, which a version would not tell apart.
	 * @return completes with what is left
	 */
	public CompletableFuture<Optional<ZNode>> deleteEmptyContainer(String path, Optional<ZNode> read) {
		if (read.filter(ZNode::isEmptyContainer).isEmpty()) {
			return CompletableFuture.completedFuture(read);
		}
		String probe = path + "/probe";
		return multi(List.of(createStep(probe), Op.delete(probe, -1), Op.delete(path, -1)))
			.thenApply((results) -> (refusal(results) == null) ? Optional.empty() : read);
	}

	/** Returns the code of the step that was refused, or {@code null}. */
	public static @Nullable Code refusal(List<OpResult> results) {
		return results.stream()
			.filter((result) -> result instanceof OpResult.ErrorResult)
			.map((result) -> Code.get(((OpResult.ErrorResult) result).getErr()))
			.filter((code) -> code != Code.OK && code != Code.RUNTIMEINCONSISTENCY)
			.findFirst()
			.orElse(null);
	}

	/** Returns the {@code Stat} that the last write of data has answered. */
	public static Stat written(List<OpResult> results) {
		Stat last = new Stat();
		for (OpResult result : results) {
			last = (result instanceof OpResult.SetDataResult written) ? written.getStat() : last;
		}
		return last;
	}

	public Op createContainerStep(String path) {
		return Op.create(path, EMPTY, this.acl, CreateMode.CONTAINER);
	}

	public Op createStep(String path) {
		return Op.create(path, EMPTY, this.acl, CreateMode.EPHEMERAL);
	}

	public static Op touchStep(String path, int version) {
		return Op.setData(path, EMPTY, version);
	}

	/** Sends a sync: after its answer no earlier request of the session takes effect. */
	public CompletableFuture<Boolean> sync(String path) {
		CompletableFuture<Boolean> end = new CompletableFuture<>();
		this.zooKeeper.sync(path, (code, asked, context) -> end(end, code, OpCode.sync, asked, true), null);
		return end;
	}

	private <T> void end(CompletableFuture<T> end, int number, int request, @Nullable String path, @Nullable T value) {
		Code code = Code.get(number);
		this.answered.accept((code != null) ? code : Code.SYSTEMERROR);
		if (code == Code.OK && value != null) {
			end.complete(value);
		}
		else {
			end.completeExceptionally(ZooKeeperErrors.failure(code, request, path));
		}
	}

	/**
	 * The children of a node as one request has read them.
	 *
	 * @param names their names, in no order
	 * @param czxid the {@code czxid} of the parent
	 * @param version the version of the parent's data
	 */
	public record Children(List<String> names, long czxid, int version) {

	}

}
