package io.distributedlock.zookeeper;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockProviderException;

/**
 * What a process does with its place in a lock's line, one step after the other. Used by
 * who has the place's lock.
 */
final class Line {

	private final Place place;

	private final LockPath path;

	private final Session session;

	private final Calls calls;

	private final Layout layout;

	private final Await await;

	Line(Place place, Layout layout, Await await) {
		this.place = place;
		this.path = place.path();
		this.session = place.session();
		this.calls = place.session().calls();
		this.layout = layout;
		this.await = await;
	}

	/**
	 * Finds out what has become of a node whose answer was lost, so that a place never
	 * has two: one that nobody knows of would stand in everybody's way.
	 */
	void settle() {
		if (!this.place.isUnclear()) {
			return;
		}
		CompletableFuture<Boolean> synced = this.calls.sync(this.path.line());
		List<String> own = waiting().stream().filter((child) -> child.startsWith(prefix())).toList();
		this.await.result(synced);
		for (String child : own) {
			String node = this.path.line() + "/" + child;
			if (this.place.node() == null) {
				this.session.occupy(this.path.placeBytes());
				this.place.joined(node);
			}
			else if (!node.equals(this.place.node())) {
				this.place.joining();
				delete(node);
			}
		}
		this.place.settled();
	}

	/**
	 * Joins the end of the line.
	 * @return {@code false} if the session is full: then one waits without a place
	 */
	boolean join() {
		if (!this.session.reserve(this.path.placeBytes())) {
			return false;
		}
		this.place.joining();
		boolean joined = false;
		try {
			this.place.joined(this.path.line() + "/" + create());
			joined = true;
		}
		catch (LockProviderException ex) {
			if (ex.getCause() != null && !ZooKeeperErrors.isUnclear(ex.getCause())) {
				this.place.settled();
			}
			throw ex;
		}
		finally {
			if (!joined) {
				this.session.free(this.path.placeBytes());
			}
		}
		return true;
	}

	/** Gives the name of the new node. */
	private String create() {
		String prefix = this.path.line() + "/" + prefix();
		while (true) {
			try {
				return this.await.result(this.calls.createSequential(prefix));
			}
			catch (LockProviderException ex) {
				if (!ZooKeeperErrors.is(ex.getCause(), Code.NONODE)) {
					throw ex;
				}
			}
			String created = this.await.result(this.calls.createSequentialInContainer(this.path.line(), prefix));
			if (!created.isEmpty()) {
				return created;
			}
			this.await.result(this.layout.ensureParents(this.calls, LockPaths.parent(this.path.line())));
		}
	}

	private String prefix() {
		return Long.toHexString(this.session.id()) + "-";
	}

	private List<String> waiting() {
		try {
			return GiveBack.inOrder(this.await.result(this.calls.children(this.path.line())));
		}
		catch (LockProviderException ex) {
			if (ZooKeeperErrors.is(ex.getCause(), Code.NONODE)) {
				return List.of();
			}
			throw ex;
		}
	}

	/**
	 * Sees to it that the place is known to be the first, or that the end of the one
	 * before it will be told.
	 * @return {@code false} if the line has changed meanwhile
	 */
	boolean findPosition(String node) {
		if (this.place.isHead() || (this.place.isPlaced() && this.place.isWatching())) {
			return true;
		}
		List<String> waiting = waiting();
		int before = waiting.indexOf(node.substring(node.lastIndexOf('/') + 1));
		if (before < 0) {
			this.place.left(node);
			return false;
		}
		this.place.placed(before);
		if (before == 0) {
			return true;
		}
		String watched = this.path.line() + "/" + waiting.get(before - 1);
		this.place.beginWatching(watched);
		boolean watching = false;
		try {
			watching = this.await.node(this.calls.read(watched, this.place.watcher())) != null;
			return watching;
		}
		finally {
			if (!watching) {
				this.place.placed(-1);
			}
		}
	}

	/**
	 * Asks for the door from its place. The head first marks the door that is there, so
	 * that its holder passes it on, and watches it; all is sent at once, so that whoever
	 * comes and goes meanwhile does not slip through again and again.
	 * @param reserved whether the door was seen to be reserved
	 */
	Look look(String node, boolean reserved, Taking taking) {
		if (this.place.isHead() && (this.place.wasTold() || reserved)) {
			Door taken = taking.door(this.place, node, taking.sendTakeOver(node));
			if (taken != null || this.place.node() == null) {
				return new Look(taken, null);
			}
		}
		boolean watch = this.place.isHead() && !this.place.isWatching();
		// May hit a later door than the one last seen, which is as good.
		CompletableFuture<Stat> mark = watch ? this.calls.touch(this.path.door(), GiveBack.HELD) : null;
		CompletableFuture<Long> sent = taking.sendCreate(node);
		if (watch) {
			this.place.beginWatching(this.path.door());
		}
		CompletableFuture<Node> read = this.calls.read(this.path.door(), watch ? this.place.watcher() : null);
		boolean marked = false;
		try {
			Door taken = taking.door(this.place, node, sent);
			Node door = (taken == null) ? this.await.node(read) : null;
			marked = door != null && door.version() != GiveBack.HELD;
			if (mark != null && door != null && !marked) {
				requirePermitted(mark);
			}
			return new Look(taken, door);
		}
		finally {
			if (watch && !marked) {
				// Nothing may be watched, or the mark was too early for this door.
				this.place.endWatching();
			}
		}
	}

	/** Was answered before. What may not be marked would be looked at without end. */
	private static void requirePermitted(CompletableFuture<Stat> mark) {
		Throwable failure = mark.handle((stat, ex) -> ex).getNow(null);
		if (failure != null && ZooKeeperErrors.is(failure, Code.NOAUTH)) {
			throw ZooKeeperErrors.translate(failure);
		}
	}

	/**
	 * What a look at the door has shown.
	 *
	 * @param taken the door if it is ours now
	 * @param door the door if it is another's
	 */
	record Look(@Nullable Door taken, @Nullable Node door) {
	}

	/**
	 * Takes the place away. A reservation is for the next in line then; where there is
	 * none it ends.
	 * @return whether there was a place
	 */
	boolean leave() {
		settle();
		String node = this.place.node();
		if (node == null) {
			return false;
		}
		delete(node);
		this.place.left(node);
		Node door = this.await.node(this.calls.read(this.path.door(), null));
		if (door != null && door.version() == GiveBack.RESERVED && waiting().isEmpty()) {
			this.calls.delete(this.path.door(), GiveBack.RESERVED);
		}
		return true;
	}

	private void delete(String node) {
		try {
			this.await.result(this.calls.delete(node, -1));
		}
		catch (LockProviderException ex) {
			if (!ZooKeeperErrors.is(ex.getCause(), Code.NONODE)) {
				throw ex;
			}
		}
	}

}
