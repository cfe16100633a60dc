package io.distributedlock.support;

import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockContext;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;

/**
 * What a thread has locked by a {@link LockView} and not yet unlocked. The holds of a
 * thread are a list, the latest first; a thread without any has no list.
 */
final class ViewHold {

	private static final ThreadLocal<ViewHold> LATEST = new ThreadLocal<>();

	private final Object template;

	private final List<LockKey> keys;

	private final JoinableLease lease;

	private final LockContext.Scope scope;

	private @Nullable ViewHold earlier;

	private ViewHold(Object template, List<LockKey> keys, JoinableLease lease) {
		this.template = template;
		this.keys = keys;
		this.lease = lease;
		this.scope = LockContext.openIndependent(lease);
		this.earlier = LATEST.get();
	}

	/** Begins a hold of this thread. */
	static void begin(Object template, List<LockKey> keys, JoinableLease lease) {
		LATEST.set(new ViewHold(template, keys, lease));
	}

	/** Returns the latest hold of this thread for the keys, or {@code null}. */
	static @Nullable ViewHold find(Object template, List<LockKey> keys) {
		ViewHold hold = LATEST.get();
		while (hold != null && !(hold.template == template && hold.keys.equals(keys))) {
			hold = hold.earlier;
		}
		return hold;
	}

	JoinableLease lease() {
		return this.lease;
	}

	/**
	 * Ends the hold, which is of this thread. Its handle is not closed.
	 * @throws IllegalMonitorStateException if a call runs inside that has joined the lock
	 */
	void end() {
		requireNotJoined();
		this.scope.close();
		ViewHold later = null;
		for (ViewHold hold = LATEST.get(); hold != this; hold = Objects.requireNonNull(hold).earlier) {
			later = hold;
		}
		if (later != null) {
			later.earlier = this.earlier;
		}
		else if (this.earlier != null) {
			LATEST.set(this.earlier);
		}
		else {
			LATEST.remove();
		}
	}

	/** The body of a call that has joined the lock would run on without it. */
	private void requireNotJoined() {
		for (LockLease inner : LockContext.findAll()) {
			if (inner == this.lease) {
				return;
			}
			if (inner instanceof JoinableLease joined && this.keys.stream().anyMatch(joined::covers)
					&& !isOfView(joined)) {
				throw new IllegalMonitorStateException(
						"Lock " + this.keys + " is needed by a call that runs inside it. Unlock it after that call");
			}
		}
	}

	private static boolean isOfView(LockLease lease) {
		for (ViewHold hold = LATEST.get(); hold != null; hold = hold.earlier) {
			if (hold.lease == lease) {
				return true;
			}
		}
		return false;
	}

}
