package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.regex.Pattern;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.provider.LockTimer;

/**
 * Gives doors back. A door that nobody waits for is deleted. One that was marked becomes
 * reserved for the head of its line, and is deleted after a grace together with the head
 * that did not use it, or at once where the line is empty.
 * <p>
 * Nothing is sent again before the tree was read: the versions of the next door start at
 * zero too. Nothing blocks.
 */
final class GiveBack {

	private static final Log logger = LogFactory.getLog(GiveBack.class);

	static final int HELD = 0;

	static final int WAITED_FOR = 1;

	static final int RESERVED = 2;

	private static final Duration GRACE = Duration.ofMillis(100);

	/** The line has changed in the middle of the end of a grace. */
	private static final Duration SOON = Duration.ofMillis(5);

	/** A pause after a connection or a right was lost in the middle of a grace. */
	private static final Duration RETRY = Duration.ofMillis(250);

	/** A session's id and a number by the server; whatever else is there is junk. */
	private static final Pattern PLACE = Pattern.compile("[0-9a-f]{1,16}-\\d{10}");

	private final LockTimer timer;

	/** Takes the place of this process in a line away, if there is one. */
	private final Consumer<LockKey> leaveLine;

	GiveBack(LockTimer timer, Consumer<LockKey> leaveLine) {
		this.timer = timer;
		this.leaveLine = leaveLine;
	}

	/** Those who wait, in the order of arrival. */
	static List<String> inOrder(List<String> children) {
		return children.stream()
			.filter((child) -> PLACE.matcher(child).matches())
			.sorted(Comparator.comparing((child) -> child.substring(child.length() - 10)))
			.toList();
	}

	/**
	 * Gives a door back.
	 * @return whether it was there; fails where that is unclear
	 */
	CompletableFuture<Boolean> start(Door door) {
		Calls calls = door.session().calls();
		return calls.delete(door.path().door(), HELD).handle((gone, failure) -> {
			if (ZooKeeperErrors.is(failure, Code.BADVERSION)) {
				return reserve(door);
			}
			return found(failure);
		}).thenCompose((next) -> next);
	}

	/** NONODE is an answer too. */
	private static CompletableFuture<Boolean> found(@Nullable Throwable failure) {
		if (failure == null || ZooKeeperErrors.is(failure, Code.NONODE)) {
			return CompletableFuture.completedFuture(failure == null);
		}
		return CompletableFuture.failedFuture(failure);
	}

	CompletableFuture<Boolean> reserve(Door door) {
		Calls calls = door.session().calls();
		this.leaveLine.accept(door.key());
		CompletableFuture<Boolean> reserved = calls.touch(door.path().door(), WAITED_FOR).thenApply((stat) -> true);
		CompletableFuture<Optional<String>> first = first(door);
		return reserved.handle((done, failure) -> {
			if (failure == null) {
				return first.exceptionally((ex) -> Optional.of("unknown"))
					.thenCompose((head) -> afterwards(door, head));
			}
			if (ZooKeeperErrors.is(failure, Code.BADVERSION)) {
				return calls.read(door.path().door(), null).thenCompose((node) -> deleteAsItIs(door, node));
			}
			return found(failure);
		}).thenCompose((next) -> next);
	}

	/** A version that only somebody else's hand can have made. */
	private static CompletableFuture<Boolean> deleteAsItIs(Door door, Node node) {
		return door.is(node) ? door.session().calls().delete(door.path().door(), node.version())
				: CompletableFuture.completedFuture(false);
	}

	/** The door is reserved now: it holds nothing any more, whatever follows. */
	private CompletableFuture<Boolean> afterwards(Door door, Optional<String> head) {
		if (head.isPresent()) {
			endLater(door, GRACE);
			return CompletableFuture.completedFuture(true);
		}
		return door.session().calls().delete(door.path().door(), RESERVED).handle((gone, failure) -> {
			if (failure != null && !ZooKeeperErrors.is(failure, Code.NONODE)) {
				endLater(door, RETRY);
			}
			return true;
		});
	}

	private static CompletableFuture<Optional<String>> first(Door door) {
		return door.session().calls().children(door.path().line()).handle((children, failure) -> {
			if (failure != null && !ZooKeeperErrors.is(failure, Code.NONODE)) {
				return CompletableFuture.<Optional<String>>failedFuture(failure);
			}
			return CompletableFuture.completedFuture(
					(children != null) ? inOrder(children).stream().findFirst() : Optional.<String>empty());
		}).thenCompose((next) -> next);
	}

	/** Ends a reservation that was not used. */
	void endLater(Door door, Duration delay) {
		try {
			this.timer.schedule(() -> end(door), delay);
		}
		catch (RejectedExecutionException ex) {
			logger.debug("The timer has ended with the application: a reservation ends with the session", ex);
		}
	}

	private void end(Door door) {
		if (door.session().hasEnded()) {
			return;
		}
		Calls calls = door.session().calls();
		String path = door.path().door();
		calls.sync(path);
		CompletableFuture<Optional<String>> first = first(door);
		calls.read(path, null)
			.thenCombine(first,
					(node, head) -> (door.is(node) && node.version() == RESERVED) ? pass(door, head)
							: CompletableFuture.completedFuture(true))
			.thenCompose((next) -> next)
			.whenComplete((done, failure) -> {
				if (failure != null && !ZooKeeperErrors.is(failure, Code.NONODE)) {
					endLater(door, RETRY);
				}
				else if (Boolean.FALSE.equals(done)) {
					endLater(door, SOON);
				}
			});
	}

	/** Whether nothing is left to do. */
	private static CompletableFuture<Boolean> pass(Door door, Optional<String> head) {
		Calls calls = door.session().calls();
		Op open = Op.delete(door.path().door(), RESERVED);
		List<Op> steps = head.map((place) -> List.of(open, Op.delete(door.path().line() + "/" + place, -1)))
			.orElse(List.of(open));
		return calls.multi(steps).thenApply((results) -> {
			for (OpResult result : results) {
				if (result instanceof OpResult.ErrorResult error && Code.get(error.getErr()) == Code.NOAUTH) {
					throw new CompletionException(KeeperException.create(Code.NOAUTH, door.path().door()));
				}
			}
			return results.stream().noneMatch((result) -> result instanceof OpResult.ErrorResult);
		});
	}

}
