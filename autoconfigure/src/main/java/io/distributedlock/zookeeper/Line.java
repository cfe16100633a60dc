package io.distributedlock.zookeeper;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import org.apache.zookeeper.KeeperException.Code;
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
	 * Sees to it that the place stands and that a change before it will be told.
	 * @return {@code false} if the line has changed meanwhile
	 */
	boolean stand() {
		if (this.place.node() == null && !join()) {
			return true;
		}
		return this.place.isHead() || (this.place.isPlaced() && this.place.isWatching()) || findPosition();
	}

	/** Whether there is a place now; a session that is full waits without one. */
	private boolean join() {
		if (this.place.isUnclear()) {
			String known = own();
			if (known != null) {
				this.place.joined(known);
				return true;
			}
		}
		if (!this.session.reserve(this.path.placeBytes())) {
			return false;
		}
		this.place.joining();
		boolean joined = false;
		try {
			this.place.joined(create());
			joined = true;
		}
		finally {
			if (!joined) {
				this.session.free(this.path.placeBytes());
			}
		}
		return true;
	}

	private String create() {
		String prefix = this.path.line() + "/" + prefix();
		try {
			return this.await.result(this.calls.createSequential(prefix));
		}
		catch (LockProviderException ex) {
			if (!ZooKeeperErrors.is(ex.getCause(), Code.NONODE)) {
				throw ex;
			}
			this.await.result(this.layout.ensureLine(this.calls, this.path.line()));
			return this.await.result(this.calls.createSequential(prefix));
		}
	}

	private String prefix() {
		return Long.toHexString(this.session.id()) + "-";
	}

	/** The node that an unanswered command has left. */
	private @Nullable String own() {
		Optional<String> own = waiting().stream().filter((child) -> child.startsWith(prefix())).findFirst();
		return own.map((child) -> this.path.line() + "/" + child).orElse(null);
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

	private boolean findPosition() {
		String node = this.place.node();
		List<String> waiting = waiting();
		int before = (node != null) ? waiting.indexOf(node.substring(node.lastIndexOf('/') + 1)) : -1;
		if (before < 0) {
			this.place.left();
			return false;
		}
		this.place.placed(before);
		if (before == 0) {
			return true;
		}
		String watched = this.path.line() + "/" + waiting.get(before - 1);
		this.place.beginWatching(watched);
		if (this.await.node(this.calls.read(watched, this.place.placeWatcher())) == null) {
			this.place.placed(-1);
			return false;
		}
		return true;
	}

	/**
	 * Lets the head see to it that the holder passes the door on, and hear of it.
	 * @param door the door as it was just read
	 * @return the door as it is now, or {@code null} if it is gone
	 */
	@Nullable Node watchDoor(Node door) {
		if (this.place.isWatching() && door.version() != GiveBack.HELD) {
			return door;
		}
		if (door.version() == GiveBack.HELD) {
			// May hit a later door, which is as good; what it meets else is read next.
			this.calls.touch(this.path.door(), GiveBack.HELD);
		}
		this.place.beginWatching(this.path.door());
		return this.await.node(this.calls.read(this.path.door(), this.place.doorWatcher()));
	}

	/**
	 * Takes the place away. A reservation is for the next in line then; where there is
	 * none it ends.
	 * @return whether there was a place
	 */
	boolean leave() {
		String node = this.place.node();
		if (node == null && this.place.isUnclear()) {
			node = own();
		}
		if (node == null) {
			return false;
		}
		CompletableFuture<Boolean> gone = this.calls.delete(node, -1);
		CompletableFuture<Node> read = this.calls.read(this.path.door(), null);
		try {
			this.await.result(gone);
		}
		catch (LockProviderException ex) {
			if (!ZooKeeperErrors.is(ex.getCause(), Code.NONODE)) {
				throw ex;
			}
		}
		this.place.left();
		Node door = this.await.node(read);
		if (door != null && door.version() == GiveBack.RESERVED && waiting().isEmpty()) {
			this.calls.delete(this.path.door(), GiveBack.RESERVED);
		}
		return true;
	}

}
