package io.distributedlock.benchmarks.scenario;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Numbers that all JVMs of a run see, in a file that each maps into its memory. Thus a
 * critical section costs the store nothing, and two holders at once are noticed in
 * whatever process they are.
 */
public final class SharedMemory {

	private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

	/** Bytes between two slots, so that no two share a line of a processor's cache. */
	private static final int SLOT_BYTES = 128;

	private final ByteBuffer memory;

	private SharedMemory(ByteBuffer memory) {
		this.memory = memory;
	}

	/**
	 * Maps a file, which is created if it does not exist.
	 * @param file the file
	 */
	public static SharedMemory map(Path file) {
		try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ,
				StandardOpenOption.WRITE)) {
			return new SharedMemory(
					channel.map(FileChannel.MapMode.READ_WRITE, 0, (long) Slot.values().length * SLOT_BYTES)
						.order(ByteOrder.nativeOrder()));
		}
		catch (IOException ex) {
			throw new IllegalStateException("Cannot map " + file, ex);
		}
	}

	/** Sets all numbers to zero. */
	public void clear() {
		for (Slot slot : Slot.values()) {
			set(slot, 0);
		}
	}

	long get(Slot slot) {
		return (long) LONGS.getVolatile(this.memory, offset(slot));
	}

	void set(Slot slot, long value) {
		LONGS.setVolatile(this.memory, offset(slot), value);
	}

	/** Adds to a number in one step, and returns what it was. */
	long add(Slot slot, long value) {
		return (long) LONGS.getAndAdd(this.memory, offset(slot), value);
	}

	@SuppressWarnings("EnumOrdinal") // all JVMs of a run have the same class
	private static int offset(Slot slot) {
		return slot.ordinal() * SLOT_BYTES;
	}

	/** The numbers. */
	enum Slot {

		/** Raised by each holder in two steps. */
		COUNTER,

		/** How many holders that do not read are inside now. */
		INSIDE,

		/** How many readers are inside now. */
		READERS,

		/** How many holders have found one inside that they exclude. */
		OVERLAPS,

		/** The number of the last holder. */
		LAST_HOLDER,

		/** How often the holder was another one than before. */
		HAND_OVERS,

		/** When the last holder called release, in nanoseconds. */
		RELEASED_AT,

		/** Since when the first of two processes waits, in nanoseconds, or zero. */
		FIRST_WAITS_SINCE,

		/** Since when the second of two processes waits, in nanoseconds, or zero. */
		SECOND_WAITS_SINCE

	}

}
