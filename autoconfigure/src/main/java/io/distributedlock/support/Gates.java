package io.distributedlock.support;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.LockProvider;

/**
 * The gates of the keys that somebody in this process holds or waits for, and no others.
 */
final class Gates {

	private final ConcurrentMap<LockKey, Gate> gates = new ConcurrentHashMap<>();

	private final Cleaner cleaner;

	Gates(Cleaner cleaner) {
		this.cleaner = cleaner;
	}

	/** The open gate of the key. It may close before it is joined: then ask again. */
	Gate gate(LockKey key) {
		Gate gate = this.gates.get(key);
		return (gate != null) ? gate : this.gates.computeIfAbsent(key, (absent) -> new Gate(absent, this));
	}

	/**
	 * Forgets a closed gate.
	 * @param gate the gate
	 * @param standing its contender, if a place of this process may stand in the store
	 */
	void remove(Gate gate, LockProvider.@Nullable Contender standing) {
		this.gates.remove(gate.key(), gate);
		if (standing != null) {
			this.cleaner.withdraw(gate.key(), standing);
		}
	}

	/** The store may have the key free again. */
	void changed(LockKey key) {
		Gate gate = this.gates.get(key);
		if (gate != null) {
			gate.changed();
		}
	}

	/** Tells everybody who waits to look again. */
	void signalAll() {
		List<Gate> all = new ArrayList<>(this.gates.values());
		all.forEach(Gate::signalAll);
	}

	int size() {
		return this.gates.size();
	}

}
