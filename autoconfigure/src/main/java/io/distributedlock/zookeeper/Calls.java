package io.distributedlock.zookeeper;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import org.apache.zookeeper.AsyncCallback.Children2Callback;
import org.apache.zookeeper.AsyncCallback.Create2Callback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one ZooKeeper handle, none of which blocks. What is sent is answered,
 * and what depends on an answer runs, in the order of sending, on the handle's event
 * thread. A failure is a {@link KeeperException}.
 */
final class Calls {

	private static final byte[] EMPTY = {};

	private final ZooKeeper zooKeeper;

	private final List<ACL> acl;

	private final Consumer<Code> answered;

	/**
	 * Creates the calls of a handle.
	 * @param acl who may do what with created nodes
	 * @param answered told of each end of a call, before who made it; must not block
	 */
	Calls(ZooKeeper zooKeeper, List<ACL> acl, Consumer<Code> answered) {
		this.zooKeeper = zooKeeper;
		this.acl = acl;
		this.answered = answered;
	}

	CompletableFuture<Stat> create(String path, byte[] data, CreateMode mode) {
		CompletableFuture<Stat> end = new CompletableFuture<>();
		Create2Callback callback = (code, asked, context, created, stat) -> end(end, code, asked, stat);
		this.zooKeeper.create(path, data, this.acl, mode, callback, null);
		return end;
	}

	/** Creates a node whose name the server completes, and gives that name. */
	CompletableFuture<String> createSequential(String path) {
		CompletableFuture<String> end = new CompletableFuture<>();
		Create2Callback callback = (code, asked, context, created, stat) -> end(end, code, asked,
				(created != null) ? name(created) : null);
		this.zooKeeper.create(path, EMPTY, this.acl, CreateMode.EPHEMERAL_SEQUENTIAL, callback, null);
		return end;
	}

	/**
	 * Above the name the answer to several steps has what the client's paths leave out.
	 */
	private static String name(String created) {
		return created.substring(created.lastIndexOf('/') + 1);
	}

	/**
	 * Creates a container and the first node in it, at once: the server never removes a
	 * container that nothing was ever in.
	 * @return gives the node's name, empty if the container is there or its parent is not
	 */
	CompletableFuture<String> createSequentialInContainer(String container, String path) {
		List<Op> steps = List.of(Op.create(container, EMPTY, this.acl, CreateMode.CONTAINER),
				Op.create(path, EMPTY, this.acl, CreateMode.EPHEMERAL_SEQUENTIAL));
		return multi(steps).thenCompose((results) -> {
			if (results.get(1) instanceof OpResult.CreateResult created) {
				return CompletableFuture.completedFuture(name(created.getPath()));
			}
			Code code = (results.get(0) instanceof OpResult.ErrorResult refused) ? Code.get(refused.getErr()) : null;
			return (code == Code.NODEEXISTS || code == Code.NONODE) ? CompletableFuture.completedFuture("")
					: CompletableFuture
						.failedFuture(KeeperException.create((code != null) ? code : Code.SYSTEMERROR, container));
		});
	}

	CompletableFuture<Boolean> delete(String path, int version) {
		CompletableFuture<Boolean> end = new CompletableFuture<>();
		this.zooKeeper.delete(path, version, (code, asked, context) -> end(end, code, asked, true), null);
		return end;
	}

	CompletableFuture<Stat> setData(String path, byte[] data, int version) {
		CompletableFuture<Stat> end = new CompletableFuture<>();
		this.zooKeeper.setData(path, data, version, (code, asked, context, stat) -> end(end, code, asked, stat), null);
		return end;
	}

	/** Changes a node's version and nothing else. */
	CompletableFuture<Stat> touch(String path, int version) {
		return setData(path, EMPTY, version);
	}

	CompletableFuture<Node> read(String path, @Nullable Watcher watcher) {
		CompletableFuture<Node> end = new CompletableFuture<>();
		this.zooKeeper.getData(path, watcher, (code, asked, context, data, stat) -> end(end, code, asked,
				(stat != null) ? new Node((data != null) ? data : EMPTY, stat) : null), null);
		return end;
	}

	CompletableFuture<List<String>> children(String path) {
		CompletableFuture<List<String>> end = new CompletableFuture<>();
		Children2Callback callback = (code, asked, context, children, stat) -> end(end, code, asked, children);
		this.zooKeeper.getChildren(path, false, callback, null);
		return end;
	}

	/**
	 * Sends several steps that take effect together or not at all. Only an end of the
	 * connection or the session is a failure; else the results tell.
	 */
	CompletableFuture<List<OpResult>> multi(List<Op> steps) {
		CompletableFuture<List<OpResult>> end = new CompletableFuture<>();
		this.zooKeeper.multi(steps, (code, asked, context, results) -> {
			boolean answered = results != null && results.size() == steps.size();
			end(end, answered ? Code.OK.intValue() : code, steps.get(0).getPath(), results);
		}, null);
		return end;
	}

	Op createStep(String path) {
		return Op.create(path, EMPTY, this.acl, CreateMode.EPHEMERAL);
	}

	static Op touchStep(String path, int version) {
		return Op.setData(path, EMPTY, version);
	}

	/** After its answer no earlier request of the session can take effect any more. */
	CompletableFuture<Boolean> sync(String path) {
		CompletableFuture<Boolean> end = new CompletableFuture<>();
		this.zooKeeper.sync(path, (code, asked, context) -> end(end, code, asked, true), null);
		return end;
	}

	private <T> void end(CompletableFuture<T> end, int number, @Nullable String path, @Nullable T value) {
		Code code = Code.get(number);
		this.answered.accept((code != null) ? code : Code.SYSTEMERROR);
		if (code == Code.OK && value != null) {
			end.complete(value);
		}
		else {
			end.completeExceptionally(
					KeeperException.create((code != null && code != Code.OK) ? code : Code.SYSTEMERROR, path));
		}
	}

}
