package io.distributedlock.benchmarks.scenario;

import java.util.List;

import io.distributedlock.benchmarks.scenario.SharedMemory.Slot;

/**
 * The critical section of a lock, from its grant to the call of release. It catches a
 * contender that lets two holders in at once: each holder reads a counter when it enters
 * and writes the next number when it leaves, so that the update of a holder in between is
 * lost. Readers, which may be in together, and whoever is in alone look for each other
 * when they enter.
 */
final class CriticalSection {

	private final SharedMemory memory;

	CriticalSection(SharedMemory memory) {
		this.memory = memory;
	}

	/**
	 * Enters the section.
	 * @param holder a number of the holder, other than zero
	 * @return what {@link #leave(long)} needs
	 */
	long enter(long holder) {
		if (this.memory.add(Slot.INSIDE, 1) != 0 || this.memory.get(Slot.READERS) != 0) {
			violated();
		}
		long before = this.memory.get(Slot.LAST_HOLDER);
		if (before != 0 && before != holder) {
			this.memory.add(Slot.HAND_OVERS, 1);
		}
		this.memory.set(Slot.LAST_HOLDER, holder);
		return this.memory.get(Slot.COUNTER);
	}

	/** Leaves the section. */
	void leave(long counter) {
		this.memory.set(Slot.COUNTER, counter + 1);
		this.memory.add(Slot.INSIDE, -1);
	}

	/** Enters the section together with others that read. */
	void enterToRead() {
		this.memory.add(Slot.READERS, 1);
		if (this.memory.get(Slot.INSIDE) != 0) {
			violated();
		}
	}

	/** Leaves the section that was entered to read. */
	void leaveAfterReading() {
		this.memory.add(Slot.READERS, -1);
	}

	/** Counts something that only a second holder can cause. */
	void violated() {
		this.memory.add(Slot.OVERLAPS, 1);
	}

	/** Sets all numbers to zero before contenders run. */
	void reset() {
		this.memory.clear();
	}

	/** Returns how often the section was left, by all holders that do not read. */
	long executions() {
		return this.memory.get(Slot.COUNTER);
	}

	/** Returns how often the holder was another one than before. */
	long handOvers() {
		return this.memory.get(Slot.HAND_OVERS);
	}

	/**
	 * Returns the figures that have to be zero.
	 * @param executions how often the section was left by holders that do not read
	 */
	List<Figure> figures(double executions) {
		return List.of(new Figure(Figure.LOST_UPDATES, executions - executions(), "count"),
				new Figure(Figure.OVERLAPS, this.memory.get(Slot.OVERLAPS), "count"));
	}

}
