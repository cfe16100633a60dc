package io.distributedlock.zookeeper.node;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.provider.OwnerId;

/**
 * Registry of the commands of this process whose effect is not known, by lock. A lock has
 * rarely more than one.
 */
final class SentCommandRegistry {

	private final ConcurrentHashMap<LockKey, List<SentCommand>> commands = new ConcurrentHashMap<>();

	void add(SentCommand command) {
		this.commands.compute(command.key(), (key, present) -> {
			List<SentCommand> all = (present != null) ? new ArrayList<>(present) : new ArrayList<>(1);
			all.add(command);
			return all;
		});
	}

	/**
	 * Adds a command whose answer a thread will wait for.
	 * @return {@code false} if the lock has other commands
	 */
	boolean addAlone(SentCommand command) {
		command.recordAwaited(true);
		return this.commands.putIfAbsent(command.key(), List.of(command)) == null;
	}

	/** Returns whether a thread waits for the answer to a command for a lock. */
	boolean isAwaited(LockKey key) {
		return this.commands.getOrDefault(key, List.of()).stream().anyMatch(SentCommand::isAwaited);
	}

	/**
	 * Removes a command.
	 * @return {@code false} if it was removed before
	 */
	boolean remove(SentCommand command) {
		AtomicBoolean removed = new AtomicBoolean();
		this.commands.computeIfPresent(command.key(), (key, present) -> {
			List<SentCommand> others = new ArrayList<>(present);
			removed.setPlain(others.remove(command));
			return others.isEmpty() ? null : others;
		});
		return removed.getPlain();
	}

	/**
	 * Claims a lock node for a command.
	 * @param czxid the {@code czxid} of the lock node
	 * @return {@code false} if the lock node belongs to another command
	 */
	boolean claim(SentCommand command, long czxid) {
		AtomicBoolean claimed = new AtomicBoolean();
		this.commands.compute(command.key(), (key, present) -> {
			claimed.setPlain(command.claim(czxid, (present != null) ? present : List.of()));
			return present;
		});
		return claimed.getPlain();
	}

	/** Returns the first command for a lock, or {@code null} if there is none. */
	@Nullable SentCommand find(LockKey key) {
		List<SentCommand> present = this.commands.get(key);
		return (present != null) ? present.get(0) : null;
	}

	/** Returns the first command of an owner, or {@code null} if there is none. */
	@Nullable SentCommand find(LockKey key, OwnerId owner) {
		for (SentCommand command : this.commands.getOrDefault(key, List.of())) {
			if (command.owner().equals(owner)) {
				return command;
			}
		}
		return null;
	}

	/** Passes all commands to an action, which may remove them. */
	void forEach(Consumer<SentCommand> action) {
		this.commands.values().forEach((present) -> present.forEach(action));
	}

	int size() {
		return this.commands.values().stream().mapToInt(List::size).sum();
	}

}
